#include "base/alloc.h"

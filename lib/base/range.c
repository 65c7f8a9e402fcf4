#include "base/range.h"

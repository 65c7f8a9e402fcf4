#include "base/number.h"

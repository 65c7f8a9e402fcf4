#include "base/url.h"

#include "os/clock.h"

#include "os/log.h"

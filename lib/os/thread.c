#include "os/thread.h"

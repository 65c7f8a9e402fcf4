#include <xdownload/xdownload.h>

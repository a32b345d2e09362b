#pragma once
#include "shape.h"
#include "base.c"

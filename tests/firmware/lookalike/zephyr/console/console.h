#pragma once
void console_getline_init(void);
char *console_getline(void);

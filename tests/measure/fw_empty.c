/* Start-up code and an empty program: what an image holds without toolcall. */
int main(void)
{
    return 0;
}

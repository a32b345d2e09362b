/* Pointers and recursions of the kinds that the library has: size.py checks
 * that stack.py finds its way through them. */
typedef void (*leaf)(char *);
typedef struct user_ {
    leaf name, end;
} user_;
typedef struct feed_ {
    const user_ *user;
    int again;
} feed_;
typedef struct empty_ {
    leaf none;
} empty_;
typedef struct given {
    leaf by_user;
} given;

static void tell_far(char *text)
{
    volatile char large[2000];
    large[0] = *text;
    *text = large[0];
}

static void tell_near(char *text)
{
    volatile char small[100];
    small[0] = *text;
    *text = small[0];
}

static const user_ far_user = {tell_far, 0};
static const user_ near_user = {tell_near, tell_near};

static void feed(feed_ *to, char *text)
{
    to->user->name(text);
}

void reads_far(char *text)
{
    feed_ to = {&far_user, 0};
    feed(&to, text);
}

void reads_near(char *text)
{
    feed_ to = {&near_user, 0};
    feed(&to, text);
}

static void each(char *text, leaf told)
{
    for (; *text; text++)
        told(text);
}

void tells_near(char *text)
{
    each(text, tell_near);
}

void tells_far(char *text)
{
    each(text, tell_far);
}

static void deeper(char *text)
{
    volatile char frame[300];
    frame[0] = *text;
    *text = frame[0];
    if (*text)
        deeper(text + 1);
}

void turns(char *text)
{
    deeper(text);
}

void turns_for_ever(char *text)
{
    volatile char frame[300];
    frame[0] = *text;
    *text = frame[0];
    turns_for_ever(text + 1);
}

void nobody_knows(empty_ *of, char *text)
{
    of->none(text);
}

void user_knows(given *of, char *text)
{
    of->by_user(text);
}

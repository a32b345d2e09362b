#!/usr/bin/env python3
"""tests/standin.py: what the stand-in model makes of first requests.

Each line of REQUESTS is typed into the example agent, and has to lead to the
call beside it, or to none. They are what examples/guess.h was made with; what
it makes of others is not measured here.
"""
import pathlib
import subprocess
import tempfile

from checks import Checks

BUILD = pathlib.Path(__file__).resolve().parent.parent / "build"
FILES = {"notes.txt": "meeting on Monday\nbudget is 400\n", "hello.txt": "Hello world\n",
         "todo.md": "buy milk\n", "main.c": "int main(void)\n{\n    return 0;\n}\n"}
REQUESTS = """
what files are here?                        | list {}
show me what is in this directory           | list {}
ls                                          | list {}
read notes.txt                              | read {"file_paths":["notes.txt"]}
what does notes.txt say?                    | read {"file_paths":["notes.txt"]}
print the contents of notes.txt             | read {"file_paths":["notes.txt"]}
please read main.c for me                   | read {"file_paths":["main.c"]}
create a file called a.txt with the text Hello world | write {"file_path":"a.txt","content":"Hello world"}
make me a file b.txt containing eggs, milk and flour | write {"file_path":"b.txt","content":"eggs, milk and flour"}
write "see you" into c.txt                  | write {"file_path":"c.txt","content":"see you"}
save the word banana in d.txt               | write {"file_path":"d.txt","content":"banana"}
put the text 'see you soon' in a file called f.txt | write {"file_path":"f.txt","content":"see you soon"}
create a new file named e.txt               | write {"file_path":"e.txt","content":""}
find the word budget in my files            | grep {"pattern":"budget"}
which files mention invoice?                | grep {"pattern":"invoice"}
grep world in hello.txt                     | grep {"pattern":"world","path":"hello.txt"}
where is the function main defined?         | grep {"pattern":"main"}
find every place where main appears         | grep {"pattern":"main"}
list all .c files                           | glob {"pattern":"**/*.c"}
are there any markdown files?               | glob {"pattern":"**/*.md"}
do I have any csv files?                    | glob {"pattern":"**/*.csv"}
find files ending in .md                    | glob {"pattern":"**/*.md"}
change world to moon in hello.txt           | edit {"file_path":"hello.txt","old_string":"world","new_string":"moon"}
replace milk with tea in todo.md            | edit {"file_path":"todo.md","old_string":"milk","new_string":"tea"}
add buy bread to my todo list               | todowrite {"todos":[{"content":"buy bread","status":"pending"}]}
remind me to call mum                       | todowrite {"todos":[{"content":"call mum","status":"pending"}]}
new task: pay the rent                      | todowrite {"todos":[{"content":"pay the rent","status":"pending"}]}
create a todo: finish the report            | todowrite {"todos":[{"content":"finish the report","status":"pending"}]}
what is on my todo list?                    | todoread {}
convert 10 miles to km                      | convert_unit {"value":10,"from":"mile","to":"kilometre"}
how many inches are 2 metres?               | convert_unit {"value":2,"from":"metre","to":"inch"}
what is 72F in Celsius?                     | convert_unit {"value":72,"from":"fahrenheit","to":"celsius"}
5 kg in pounds                              | convert_unit {"value":5,"from":"kilogram","to":"pound"}
what's 30 degrees celsius in fahrenheit?    | convert_unit {"value":30,"from":"celsius","to":"fahrenheit"}
how fast is 60 mph in km/h?                 | convert_unit {"value":60,"from":"mile_per_hour","to":"kilometre_per_hour"}
how much memory does this computer have?    | get_system_status {}
how long has this machine been running?     | get_system_status {}
how hot is the cpu?                         | get_temperature {}
what time is it?                            | get_time {}
what is the date today?                     | get_time {}
switch on gpio 5                            | write_gpio {"pin":5,"on":true}
is pin 5 on?                                | read_gpio {"pin":5}
print the first 5 lines of main.c           | read {"file_paths":["main.c"],"limit":5}
what is on line 3 of main.c?                | read {"file_paths":["main.c"],"offset":3}
pull gpio 6 low                             | write_gpio {"pin":6,"on":false}
set pin 3 high                              | write_gpio {"pin":3,"on":true}
is pin 3 high?                              | read_gpio {"pin":3}
show me the uptime                          | get_system_status {}
when was this box last rebooted             | get_system_status {}
wie spät ist es?                            | get_time {}
Quelle heure est-il ?                       | get_time {}
¿Qué hora es?                               | get_time {}
现在几点？                                  | get_time {}
zeig mir die Dateien                        | list {}
hello                                       | Hello. Ask for what a tool does.
thanks!                                     | You are welcome.
who are you                                 | I follow simple requests
how do I quit                               | Type /quit
what time is it in Tokyo?                   | I cannot do that for Tokyo
what is the weather in Paris?               | No tool of mine does that
delete hello.txt                            | No tool of mine does that
what is 12 times 34?                        | No tool of mine does that
how many minutes are in 3 hours?            | No tool of mine does that
will it rain tomorrow?                      | No tool of mine does that
tell me a joke                              | No tool of mine does that
send an email to Bob                        | No tool of mine does that
what is the largest file here?              | No tool of mine does that
"""


def main():
    check = Checks("standin")
    rows = [[part.strip() for part in line.split(" | ")]
            for line in REQUESTS.strip().splitlines()]
    with tempfile.TemporaryDirectory() as root:
        for name, text in FILES.items():
            pathlib.Path(root, name).write_text(text)
        for request, wanted in rows:
            p = subprocess.run([BUILD / "agent", "--standin", "openai", "--workspace", root,
                                "--yes", "--verbose", request], text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=60)
            calls = [line.split("call", 1)[1].strip() for line in p.stdout.splitlines()
                     if line.strip().startswith("call ")]
            good = wanted in calls if "{" in wanted else not calls and wanted in p.stdout
            check(good, f"{request}: {calls or p.stdout[-200:]}")
    return check.end()


if __name__ == "__main__":
    raise SystemExit(main())

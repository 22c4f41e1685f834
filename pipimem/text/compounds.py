"""English compounds that people write as one word, as two, or with a hyphen: "setup", "set up", "set-up"."""

from __future__ import annotations

from collections.abc import Mapping

# Only those of which the one word stands for nothing else. Parts as the stemmer leaves them.
_COMPOUNDS = """
set up, sign up, sign in, sign on, sign off, sign out, log in, log on, log out, log off, check in, check out, back up
roll back, roll out, roll over, hand over, hand off, take over, cut over, switch over, fail over, fall back, kick off
wrap up, follow up, stand up, catch up, clean up, warm up, time out, shut down, break down, slow down, count down
lay off, pay off, day off, time off, drop off, pick up, build up, start up, look up, work out, take away, take out
write up, mock up, spin off, plug in, add on, opt in, opt out, on call, on site, off site, on board, on boarding
on line, off line, on premise, stand by, work around, turn around, clock in, punch in, pile up, get together, check up
data base, data set, data center, data centre, time zone, time table, time line, time stamp, time sheet, road map
white list, black list, allow list, block list, deny list, code base, work flow, work space, work shop, work place
work load, work station, dead line, dead lock, week end, week day, smart phone, head phone, ear phone, cell phone
home work, home page, home town, note book, web site, web page, web hook, web socket, web cam, file name, file system
user name, pass word, pass code, host name, check list, check point, run book, play book, play list, play ground
health care, health check, day care, child care, skin care, wi fi, e mail, bed room, bath room, class room, air port
air line, ice cream, band width, bench mark, bug fix, hot fix, hot pot, hot line, heart beat, key board, key word
key card, life time, life cycle, life style, up time, down time, down load, up load, run time, real time, part time
full time, over time, micro service, mid day, mid night, mile stone, name space, off shore, pay day, pay check
pay roll, post mortem, proof read, read me, room mate, flat mate, class mate, team mate, house mate, co worker
co founder, sand box, screen shot, side car, snap shot, sub domain, sub task, tool kit, tool chain, white board
water proof, tooth ache, tooth brush, tooth paste, stomach ache, head ache, back ache, back pack, back end, front end
full stack, base ball, basket ball, volley ball, foot ball, book shelf, book store, dish washer, door bell, hair cut
house keeper, house work, hand book, land lord, land line, lunch box, motor bike, motor cycle, news letter, post code
zip code, sea food, sea sick, car sick, sun screen, sun glasses, super market, java script, type script, git hub
git lab, my sql, mongo db, power point, you tube, face book, we chat, ding talk, ali pay, pay pal, linked in
birth day, birth place, birth date, brain storm, after noon, baby sitter, care taker, fire wall, fire fighter, fire work
gate way, sub way, rail way, high way, spread sheet, change log
help desk, stock room, ware house, show room, mail box, in box
drop box, bit coin, block chain, chat bot, road block, show stopper, lock down, flash back, touch pad, type face
"""


def _by_parts() -> Mapping[str, str]:
    pairs = (pair.strip() for line in _COMPOUNDS.strip().splitlines() for pair in line.split(","))
    return {pair: pair.replace(" ", "") for pair in pairs}


BY_PARTS: Mapping[str, str] = _by_parts()

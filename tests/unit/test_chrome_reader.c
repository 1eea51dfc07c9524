/* test_chrome_reader.c - Chrome's trace event JSON to events. What is expected is written by hand from the "Trace Event
 * Format" document. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "chrome_events.h"
#include "suite.h"

/* ---- Tables. ---- */

struct scene {
	const char *title;
	const char *json;
	const char *events;
};

#define EVENT(members) "{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":2,\"name\":\"f\"" members "}"

static const struct scene scenes[] = {
    {"array", "[" EVENT("") "," EVENT("") "]",
     "1000 slice-complete 1/2 f value=2000\n1000 slice-complete 1/2 f value=2000\n"},
    {"array, left open after an event", "[\n" EVENT(""), "1000 slice-complete 1/2 f value=2000\n"},
    {"array, left open after a comma", "[" EVENT("") ",\n", "1000 slice-complete 1/2 f value=2000\n"},
    {"array, ended by an empty object", "[" EVENT("") ",{}]", "1000 slice-complete 1/2 f value=2000\n"},
    {"byte order mark and white space", "\xef\xbb\xbf \r\n\t[ " EVENT("") " ]\n ",
     "1000 slice-complete 1/2 f value=2000\n"},
    {"object", "{\"traceEvents\":[" EVENT("") "]}", "1000 slice-complete 1/2 f value=2000\n"},
    {"object with members before and after",
     "{\"displayTimeUnit\":\"ns\",\"a\":{\"traceEvents\":[{\"ph\":\"X\"}],\"b\":[\"]}\\\"\",[{}]]},\"n\":-1.5e3,\"t\":true,"
     "\"traceEvents\":[" EVENT("") "],\"metadata\":{\"k\":[1,2,{\"x\":null}]},\"z\":\"{[\"}",
     "1000 slice-complete 1/2 f value=2000\n"},
    {"an object a line", EVENT("") "\n" EVENT("") "\n",
     "1000 slice-complete 1/2 f value=2000\n1000 slice-complete 1/2 f value=2000\n"},
    {"two lists of events", "{\"traceEvents\":[" EVENT("") "],\"traceEvents\":[" EVENT("") "]}",
     "1000 slice-complete 1/2 f value=2000\n1000 slice-complete 1/2 f value=2000\n"},
    {"durations",
     "[{\"ph\":\"B\",\"ts\":1.001,\"pid\":1,\"tid\":2,\"name\":\"f\",\"cat\":\"a,b\"},{\"ph\":\"E\",\"ts\":2.0,\"pid\":1,\"tid\":2}]",
     "1001 slice-begin 1/2 f @a,b\n2000 slice-end 1/2 \n"},
    {"instants",
     "[{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"t\",\"s\":\"t\"},{\"ph\":\"I\",\"ts\":2,\"pid\":1,\"tid\":2,\"name\":\"p\",\"s\":\"p\"},"
     "{\"ph\":\"i\",\"ts\":3,\"pid\":1,\"tid\":2,\"name\":\"g\",\"s\":\"g\"},{\"ph\":\"R\",\"ts\":4,\"pid\":1,\"tid\":2,\"name\":\"r\"}]",
     "1000 instant 1/2 t\n2000 instant 1/2 p flags=4\n3000 instant 1/2 g flags=8\n4000 instant 1/2 r ph:text=R\n"},
    {"counters",
     "[{\"ph\":\"C\",\"ts\":1,\"pid\":1,\"name\":\"c\",\"args\":{\"cats\":0,\"dogs\":7.5}},{\"ph\":\"C\",\"ts\":2,\"pid\":1,\"tid\":3,\"name\":"
     "\"c\",\"id\":\"0xAb\",\"args\":{\"cats\":-1}}]",
     "1000 counter process1/0 c cats:int=0 dogs:double=7.5\n2000 counter 1/3 c id=ab cats:int=-1\n"},
    {"async events",
     "[{\"ph\":\"b\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":31},{\"ph\":\"n\",\"ts\":2,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":\"0x1f\"},"
     "{\"ph\":\"e\",\"ts\":3,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":\"31\"},{\"ph\":\"b\",\"ts\":4,\"pid\":1,\"tid\":2,\"name\":\"a\","
     "\"id2\":{\"local\":\"0x2\"}},{\"ph\":\"e\",\"ts\":5,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id2\":{\"global\":3}},"
     "{\"ph\":\"n\",\"ts\":6,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":4,\"id2\":{\"global\":5}}]",
     "1000 async-begin 1/2 a id=1f flags=8\n"
     "2000 async-instant 1/2 a id=1f flags=8\n"
     "3000 async-end 1/2 a id=1f flags=8\n"
     "4000 async-begin 1/2 a id=2\n"
     "5000 async-end 1/2 a id=3 flags=8\n"
     "6000 async-instant 1/2 a id=4 flags=8\n"},
    {"async events of the old kind",
     "[{\"ph\":\"S\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":1},{\"ph\":\"T\",\"ts\":2,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":1,"
     "\"args\":{\"step\":\"s\"}},{\"ph\":\"p\",\"ts\":3,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":1},{\"ph\":\"F\",\"ts\":4,\"pid\":1,\"tid\":2,"
     "\"name\":\"a\",\"id\":1}]",
     "1000 async-begin 1/2 a id=1 flags=8\n"
     "2000 async-instant 1/2 a id=1 flags=8 ph:text=T step:text=s\n"
     "3000 async-instant 1/2 a id=1 flags=8 ph:text=p\n"
     "4000 async-end 1/2 a id=1 flags=8\n"},
    {"flows",
     "[{\"ph\":\"s\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"a\",\"id\":1},{\"ph\":\"t\",\"ts\":2,\"pid\":1,\"tid\":3,\"name\":\"a\",\"id\":1},"
     "{\"ph\":\"f\",\"bp\":\"e\",\"ts\":3,\"pid\":1,\"tid\":4,\"name\":\"a\",\"id\":1}]",
     "1000 flow-begin 1/2 a id=1\n2000 flow-step 1/3 a id=1\n3000 flow-end 1/4 a id=1\n"},
    {"a flow that ends in the next slice", "[{\"ph\":\"f\",\"ts\":3,\"pid\":1,\"tid\":4,\"name\":\"a\",\"id\":1}]",
     "3000 flow-end 1/4 a id=1 next\n"},
    {"values of counters that are strings",
     "[{\"ph\":\"C\",\"ts\":1,\"pid\":1,\"tid\":3,\"name\":\"c\",\"args\":{\"a\":\"7\",\"b\":\".75\",\"c\":\"+10.5\",\"d\":\"2.\",\"e\":\"0x10\","
     "\"f\":\"x\",\"g\":\"1 2\"}}]",
     "1000 counter 1/3 c a:int=7 b:double=0.75 c:double=10.5 d:double=2 e:text=0x10 f:text=x g:text=1 2\n"},
    {"flows of the newer kind",
     "[{\"ph\":\"X\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":2,\"name\":\"a\",\"bind_id\":\"0x1f\",\"flow_out\":true},"
     "{\"ph\":\"B\",\"ts\":3,\"pid\":1,\"tid\":3,\"name\":\"b\",\"bind_id\":31,\"flow_in\":true,\"flow_out\":true},"
     "{\"ph\":\"E\",\"ts\":4,\"pid\":1,\"tid\":3,\"bind_id\":31,\"flow_in\":true},"
     "{\"ph\":\"i\",\"ts\":5,\"pid\":1,\"tid\":4,\"name\":\"c\",\"bind_id\":31,\"flow_in\":true,\"flow_out\":false},"
     "{\"ph\":\"i\",\"ts\":6,\"pid\":1,\"tid\":4,\"name\":\"d\",\"bind_id\":31}]",
     "1000 slice-complete 1/2 a value=2000\n1000 flow-begin 1/2 flow id=1f\n"
     "3000 slice-begin 1/3 b\n3000 flow-step 1/3 flow id=1f\n4000 slice-end 1/3 \n"
     "5000 instant 1/4 c\n5000 flow-end 1/4 flow id=1f\n6000 instant 1/4 d\n"},
    {"objects",
     "[{\"ph\":\"N\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"o\",\"id\":\"0x1000\"},{\"ph\":\"O\",\"ts\":2,\"pid\":1,\"tid\":2,\"name\":\"o\","
     "\"id\":\"0x1000\",\"args\":{\"snapshot\":{\"x\":1,\"y\":{\"z\":[1, 2]}}}},{\"ph\":\"D\",\"ts\":3,\"pid\":1,\"tid\":2,\"name\":\"o\",\"id\":"
     "\"0x1000\"}]",
     "1000 object 1/2 o id=1000 ph:text=N\n"
     "2000 object 1/2 o id=1000 ph:text=O snapshot.x:int=1 snapshot.y.z:text=[1, 2]\n"
     "3000 object 1/2 o id=1000 ph:text=D\n"},
    {"arguments: objects that are empty, keys that are",
     "[{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":2,\"args\":{\"a\":{ },\"b\":{\n},\"\":{\"c\":1,\"\":{\"d\":2}}}}]",
     "1000 instant 1/2  a:text={ } b:text={\\x0a} .c:int=1 ..d:int=2\n"},
    {"samples, clocks, contexts",
     "[{\"ph\":\"P\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"s\"},{\"ph\":\"c\",\"ts\":2,\"pid\":1,\"tid\":2,\"name\":\"clock_sync\",\"args\":"
     "{\"sync_id\":\"x\"}},{\"ph\":\"(\",\"ts\":3,\"pid\":1,\"tid\":2,\"name\":\"k\",\"id\":1},{\"ph\":\")\",\"ts\":4,\"pid\":1,\"tid\":2,\"name\":\"k\","
     "\"id\":1}]",
     "1000 stack-sample 1/2 s value=1\n"
     "2000 metadata 1/2 clock_sync ph:text=c sync_id:text=x\n"
     "3000 metadata 1/2 k ph:text=(\n"
     "4000 metadata 1/2 k ph:text=)\n"},
    {"names of tracks; other metadata",
     "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\","
     "\"args\":{\"name\":\"t\"}},{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":-5}}," EVENT(
	 "") ",{\"ph\":\"i\",\"ts\":9,\"pid\":1,\"name\":\"of the process\",\"s\":\"p\"}]",
     "1000 metadata 1/2(t) thread_sort_index sort_index:int=-5\n1000 slice-complete 1/2(t) f value=2000\n"
     "9000 instant process1/0(p) of the process flags=4\n"},
    {"a name that is not the first of its arguments",
     "[{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"x\":{\"name\":\"u\"},\"name\":\"t\"}},{\"ph\":\"M\",\"pid\":1,"
     "\"name\":\"process_name\",\"args\":{\"x\":1}}," EVENT("") "]",
     "1000 metadata process1/0 process_name x:int=1\n1000 slice-complete 1/2(t) f value=2000\n"},
    {"scheduling and logs as Fuchsia's converter writes them",
     "{\"traceEvents\":[],\"systemTraceEvents\":{\"type\":\"fuchsia\",\"events\":[{\"ph\":\"p\",\"pid\":1,\"name\":\"proc\"},{\"ph\":\"t\",\"pid\":1,"
     "\"tid\":2,\"name\":\"thr\"},{\"ph\":\"k\",\"ts\":1,\"cpu\":3,\"out\":{\"pid\":1,\"tid\":2,\"state\":4,\"prio\":16},\"in\":{\"pid\":5,\"tid\":6,"
     "\"prio\":1}},{\"ph\":\"w\",\"ts\":2,\"cpu\":1,\"pid\":1,\"tid\":2,\"prio\":7},{\"ph\":\"l\",\"ts\":3,\"pid\":1,\"tid\":2,\"message\":\"hi\"}]}}",
     "1000 switch 1/2(thr)  value=4 other=5/6 cpu=3 outgoing_priority:uint=16 incoming_priority:uint=1\n"
     "2000 wakeup 1/2(thr)  cpu=1 weight:int=7\n"
     "3000 log 1/2(thr)  message:text=hi\n"},
    {"threads of Fuchsia's scheduling, which tells their numbers alone: of an event before, of a record behind",
     "{\"traceEvents\":[{\"ph\":\"i\",\"ts\":1,\"pid\":7,\"tid\":71,\"name\":\"a\"}],\"systemTraceEvents\":{\"type\":\"fuchsia\","
     "\"events\":[{\"ph\":\"k\",\"ts\":2,\"cpu\":1,\"out\":{\"tid\":9,\"state\":3,\"prio\":-2147483648},\"in\":{\"tid\":71,\"prio\":3122}},"
     "{\"ph\":\"k\",\"ts\":3,\"cpu\":1,\"out\":{\"pid\":0,\"tid\":71,\"state\":0,\"prio\":16},\"in\":{\"pid\":0,\"tid\":82,\"prio\":5}},"
     "{\"ph\":\"w\",\"ts\":4,\"cpu\":0,\"tid\":82},{\"ph\":\"t\",\"pid\":8,\"tid\":82,\"name\":\"late\"},"
     "{\"ph\":\"w\",\"ts\":5,\"cpu\":0,\"tid\":82}]}}",
     "1000 instant 7/71 a\n"
     "2000 switch 0/9  value=3 other=7/71 cpu=1 outgoing_weight:int=-2147483648 incoming_weight:int=3122\n"
     "3000 switch 7/71  other=8/82(late) cpu=1 outgoing_priority:uint=16 incoming_priority:uint=5\n"
     "4000 wakeup 8/82(late) \n5000 wakeup 8/82(late) \n"},
    {"without a tid the thread is that whose number is the pid; counters and instants of a process are of that",
     "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":4,\"name\":\"a\"},{\"ph\":\"i\",\"ts\":2,\"tid\":4,\"name\":\"b\"},"
     "{\"ph\":\"C\",\"ts\":3,\"pid\":4,\"name\":\"c\",\"args\":{\"v\":1}},{\"ph\":\"i\",\"ts\":4,\"s\":\"p\",\"pid\":4,\"name\":\"d\"},"
     "{\"ph\":\"i\",\"ts\":5,\"s\":\"g\",\"name\":\"e\"}]",
     "1000 slice-complete 4/4 a value=1000\n2000 instant 0/4 b\n3000 counter process4/0 c v:int=1\n"
     "4000 instant process4/0 d flags=4\n5000 instant process0/0 e flags=8\n"},
    {"processes and threads that are texts, or not there",
     "[{\"ph\":\"i\",\"ts\":1,\"pid\":\"app\",\"tid\":\"main\",\"name\":\"a\"},{\"ph\":\"i\",\"ts\":2,\"pid\":\"12\",\"tid\":\"-1\",\"name\":\"b\"},"
     "{\"ph\":\"i\",\"ts\":3,\"pid\":\"app\",\"name\":\"c\"},{\"ph\":\"i\",\"ts\":4,\"name\":\"d\"},{\"ph\":\"i\",\"ts\":5,\"pid\":1.0,\"tid\":4294967296,"
     "\"name\":\"e\"}]",
     "1000 instant 1879048192/1879048193(main) a\n"
     "2000 instant 12/-1 b\n"
     "3000 instant 1879048192/1879048192 c\n"
     "4000 instant 0/0 d\n"
     "5000 instant 1/4294967296 e\n"},
    {"arguments of every type",
     "[" EVENT(
	 ",\"args\":{\"i\":-9223372036854775808,\"u\":18446744073709551615,\"d\":0.1,\"e\":1e-7,\"big\":123456789012345678901234,\"t\":true,"
	 "\"n\":null,\"s\":\"x\",\"empty\":\"\",\"a\":[],\"o\":{},\"f\":false,\"z\":-0.0,\"y\":-0,\"h\":\"0x1f\"}") "]",
     "1000 slice-complete 1/2 f value=2000 i:int=-9223372036854775808 u:uint=18446744073709551615 "
     "d:double=0.10000000000000001 e:double=9.9999999999999995e-08 big:double=1.2345678901234569e+23 t:bool=1 n:null "
     "s:text=x empty:text= a:text=[] o:text={} f:bool=0 z:double=-0 y:double=-0 h:text=0x1f\n"},
    {"objects inside arguments, as deep as they are flattened",
     "[" EVENT(",\"args\":{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":1}}},\"k\":2}}}") "]",
     "1000 slice-complete 1/2 f value=2000 a.b.c.d.e:text={\"f\":1} a.b.k:int=2\n"},
    {"arguments that are no object",
     "[" EVENT(",\"args\":\"text\"") "," EVENT(",\"args\":[1]") "," EVENT(",\"args\":null") "]",
     "1000 slice-complete 1/2 f value=2000 args:text=text\n1000 slice-complete 1/2 f value=2000 args:text=[1]\n"
     "1000 slice-complete 1/2 f value=2000\n"},
    {"escapes",
     "[{\"ph\":\"\\u0069\",\"ts\":1},{\"ph\":\"i\",\"ts\":1,\"name\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\u0000\",\"args\":{\"\\u006b\":"
     "\"\\u0076\"}}]",
     "1000 instant 0/0 \n1000 instant 0/0 \"\\/\\x08\\x0c\\x0a\\x0d\\x09A\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80\\x00 k:text=v\n"},
    /* What number an id gets is not for this test to say, but both get the same. */
    {"texts for numbers, however they are escaped",
     "[{\"ph\":\"b\",\"ts\":1,\"pid\":\"a/b\",\"tid\":\"\\u00e9\",\"id\":\"p/q\"},{\"ph\":\"e\",\"ts\":2,\"pid\":\"a\\/b\",\"tid\":\"\xc3\xa9\","
     "\"id\":\"p\\/\\u0071\"},{\"ph\":\"s\",\"ts\":3,\"id\":1,\"scope\":\"\\u0073\"},{\"ph\":\"f\",\"ts\":4,\"id\":1,\"scope\":\"s\"}]",
     "1000 async-begin 1879048192/1879048193(\\xc3\\xa9)  id=91d830cd191e9839 flags=8\n"
     "2000 async-end 1879048192/1879048193(\\xc3\\xa9)  id=91d830cd191e9839 flags=8\n"
     "3000 flow-begin 0/0  id=9d7533e8ccc69ef0\n"
     "4000 flow-end 0/0  id=9d7533e8ccc69ef0 next\n"},
    {"what is no text is kept byte for byte", "[{\"ph\":\"i\",\"ts\":1,\"name\":\"\xff\xc3(\"}]",
     "1000 instant 0/0 \\xff\\xc3(\n"},
    {"halves of surrogate pairs and bad escapes", "[{\"ph\":\"i\",\"ts\":1,\"name\":\"\\ud83dx\\ude00\\q\\u12\"}]",
     "1000 instant 0/0 \\xef\\xbf\\xbdx\\xef\\xbf\\xbd\\q\\u12\n"},
    {"the order of time; a slice before those inside it",
     "[{\"ph\":\"X\",\"ts\":5,\"dur\":1,\"name\":\"in\"},{\"ph\":\"X\",\"ts\":5,\"dur\":9,\"name\":\"out\"},{\"ph\":\"i\",\"ts\":2,\"name\":\"first\"}]",
     "2000 instant 0/0 first\n"
     "5000 slice-complete 0/0 out value=9000\n"
     "5000 slice-complete 0/0 in value=1000\n"},
};

/* What Trackway's own writer adds. */
#define OWN                                                                                                            \
	"{\"otherData\":{\"writer\":\"trackway 9\",\"clock_start_ns\":\"1000000\",\"has_cpu\":true},\"traceEvents\":["

#define NAMED(name, place) "{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"" name "\",\"loc\":\"" place "\"}"

static const struct scene own_scenes[] = {
    {"times count from the start of the clock",
     OWN "{\"ph\":\"i\",\"ts\":-1000.000,\"name\":\"a\"},{\"ph\":\"i\",\"ts\":0.001,\"name\":\"b\"}]}",
     "0 instant none0/0 a\n1000001 instant none0/0 b\n"},
    {"flags",
     OWN EVENT(",\"args\":{\"x\":1,\"tail\":true,\"clipped\":true,\"unwound\":true}") "," EVENT(
	 ",\"args\":{\"tail\":1}") "]}",
     "1001000 slice-complete 1/2 f value=2000 flags=67 x:int=1\n1001000 slice-complete 1/2 f value=2000 tail:int=1\n"},
    {"CPUs, each up to the next",
     OWN EVENT(",\"args\":{\"cpu\":3}") "," EVENT("") "," EVENT(",\"args\":{\"cpu\":0}") "]}",
     "1001000 slice-complete 1/2 f value=2000 cpu=3\n"
     "1001000 slice-complete 1/2 f value=2000 cpu=3\n"
     "1001000 slice-complete 1/2 f value=2000\n"},
    {"bytes, pointers, numbers that are no doubles",
     OWN EVENT(
	 ",\"args\":{\"b\":{\"hex\":\"6869\",\"text\":\"hi\"},\"p\":\"0x1122334455667788\",\"u\":\"18446744073709551615\",\"i\":\"-9223372036854775808\","
	 "\"n\":\"NaN\",\"m\":\"-Infinity\",\"t\":\"12\",\"o\":{\"hex\":\"6\",\"text\":\"x\"}}") "]}",
     "1001000 slice-complete 1/2 f value=2000 b:bytes=hi p:pointer=1122334455667788 u:uint=18446744073709551615 "
     "i:int=-9223372036854775808 n:double=nan m:double=-inf t:text=12 o.hex:text=6 o.text:text=x\n"},
    {"places in the source",
     OWN EVENT(",\"loc\":\"a \\\"b\\\".c:44\"") "," EVENT("") "," NAMED("g", "C:\\\\g.c") "," NAMED("h", "h.c:") "]}",
     "1001000 slice-complete 1/2 f(a \"b\".c:44) value=2000\n"
     "1001000 slice-complete 1/2 f(a \"b\".c:44) value=2000\n"
     "1001000 instant 1/2 g(C:\\g.c:0)\n1001000 instant 1/2 h(h.c::0)\n"},
    {"arguments of the end",
     OWN EVENT(
	 ",\"args\":{\"a\":1,\"end\":{\"r\":2}}") ",{\"ph\":\"E\",\"ts\":9,\"pid\":1,\"tid\":2,\"name\":\"f\",\"args\":{\"end\":{\"r\":3},\"tail\":true}}]}",
     "1001000 slice-complete 1/2 f value=2000 a:int=1 end.r:int=2\n1009000 slice-end 1/2 f flags=1 r:int=3\n"},
};

static void expect_scene(const struct scene *scene, const struct tw_read_options *options)
{
	struct result *result = read_text(scene->json, strlen(scene->json), options);
	if (strcmp(result->events.bytes, scene->events) != 0)
		fail_msg("%s:\n%s-- instead of --\n%s-- findings --\n%s", scene->title, result->events.bytes,
		         scene->events, result->findings.bytes);
	free(result);
}

static void test_events_of_each_scene(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		expect_scene(&scenes[i], NULL);
	for (size_t i = 0; i < sizeof own_scenes / sizeof *own_scenes; i++)
		expect_scene(&own_scenes[i], NULL);
}

/* All but the last, which are out of order, stand in the file as they are delivered. */
static void test_file_order(void **state)
{
	(void)state;
	for (size_t i = 0; i + 1 < sizeof scenes / sizeof *scenes; i++)
		expect_scene(&scenes[i], &(struct tw_read_options){.order = TW_ORDER_FILE});
	const char *events = "5000 slice-complete 0/0 in value=1000\n"
			     "5000 slice-complete 0/0 out value=9000\n"
			     "2000 instant 0/0 first\n";
	struct scene last = scenes[sizeof scenes / sizeof *scenes - 1];
	last.events = events;
	expect_scene(&last, &(struct tw_read_options){.order = TW_ORDER_FILE});
}

/* Every prefix that ends inside, through a window that has to grow: pieces of the same text one after the other. */
static void test_memory_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
		expect_scene(&scenes[i], &(struct tw_read_options){.memory_limit = 1 << 20});
}

/* ---- Ids. ---- */

/* Returns the text of an async event whose id is a string. The caller frees it. */
static struct result *read_id(const char *id)
{
	char json[256];
	snprintf(json, sizeof json, "[{\"ph\":\"b\",\"ts\":0,\"name\":\"a\",\"id\":\"%s\"}]", id);
	return read_text(json, strlen(json), NULL);
}

static void test_ids(void **state)
{
	static const struct {
		const char *text, *number;
	} numbers[] = {{"0xffffffffffffffff", "ffffffffffffffff"}, {"0X0f", "f"}, {"9", "9"}};
	static const char *const others[] = {"0x1g", "0x10000000000000000", "0x", "1f", "a"};
	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		char expected[64];
		snprintf(expected, sizeof expected, "0 async-begin 0/0 a id=%s flags=8\n", numbers[i].number);
		struct result *result = read_id(numbers[i].text);
		assert_string_equal(result->events.bytes, expected);
		free(result);
	}
	/* A text that is no number is a hash of it, which has nearly all of 64 bits. */
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct result *result = read_id(others[i]);
		assert_true(strlen(result->events.bytes) >= strlen("0 async-begin 0/0 a id=0123456789ab\n"));
		free(result);
	}
}

/* ---- Numbers. ---- */

static const struct {
	const char *ts, *dur;
	uint64_t time, duration;
} times[] = {
    {"0", "0", 0, 0},
    {"1", "0.001", 1000, 1},
    {"123.456", "1.5", 123456, 1500},
    {"1700000000000000.123", "0.1", 1700000000000000123, 100},
    {"0.0009", "0.0009", 0, 1}, /* from 0.9 to 1.8 ns */
    {"0.0005", "0.0005", 0, 1}, /* to 1 ns exactly */
    {"0.9999999999", "0", 999, 0},
    {"500000.2083333333", "99999.54166666666", 500000208, 99999541},
    {"1e3", "1E-3", 1000000, 1},
    {"1.5e+2", "123456789e-6", 150000, 123456},
    {"0.000000001e12", "100e-2", 1000000, 1000},
    {"\"12.5\"", "\"3\"", 12500, 3000},
    {"0.29", "0.57", 290, 570}, /* as doubles times 1000 these are 289.99... and 569.99... */
    {"9007199254740993.001", "0.001", 9007199254740993001, 1},
    {"1e-400", "0e999999999999", 0, 0},
    {"000", "1", UINT64_MAX, 1000}, /* time: not looked at */
};

static void test_times_in_nanoseconds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		char json[256], expected[256];
		snprintf(json, sizeof json, "[{\"ph\":\"X\",\"name\":\"x\",\"ts\":%s,\"dur\":%s}]", times[i].ts,
		         times[i].dur);
		uint64_t time = times[i].time == UINT64_MAX ? 0 : times[i].time;
		int n = snprintf(expected, sizeof expected, "%" PRIu64 " slice-complete 0/0 x", time);
		if (times[i].duration)
			n += snprintf(expected + n, sizeof expected - (size_t)n, " value=%" PRIu64, times[i].duration);
		snprintf(expected + n, sizeof expected - (size_t)n, "\n");
		expect_scene(&(struct scene){json, json, expected}, NULL);
	}
}

static void test_negative_times(void **state)
{
	(void)state;
	const char *json =
	    "[{\"ph\":\"i\",\"ts\":-1.5,\"name\":\"a\"},{\"ph\":\"i\",\"ts\":-2.0001,\"name\":\"b\"},{\"ph\":\"i\",\"ts\":3,\"name\":\"c\"}]";
	struct result *result = read_text(json, strlen(json), NULL);
	assert_string_equal(result->events.bytes, "0 instant 0/0 b\n501 instant 0/0 a\n5001 instant 0/0 c\n");
	assert_string_equal(result->findings.bytes, "");
	assert_int_equal(result->clock.start_ns, 0);
	free(result);
}

static void test_clock(void **state)
{
	(void)state;
	const char *json = "[" EVENT("") ",{\"ph\":\"i\",\"ts\":0.5}]";
	struct result *result = read_text(json, strlen(json), NULL);
	assert_int_equal(result->clock.start_ns, 500);
	assert_int_equal(result->clock.end_ns, 1000);
	assert_int_equal(result->clock.ticks_per_second, 1000000000);
	assert_false(result->clock.has_cpu);
	free(result);
	result = read_text(own_scenes[2].json, strlen(own_scenes[2].json), NULL);
	assert_int_equal(result->clock.start_ns, 1000000);
	assert_true(result->clock.has_cpu);
	free(result);
}

/* ---- The format. ---- */

static void test_probe(void **state)
{
	static const char *const others[] = {
	    "[1,2,3]",
	    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{}}",
	    "{\"name\":\"package\",\"version\":\"1.0\"}",
	    "[",
	    "[] []",
	    "{}",
	    "\"ph\"",
	    "traceEvents"};
	(void)state;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		struct tw_reader *reader;
		assert_int_equal(tw_open_memory(&reader, "x", others[i], strlen(others[i]), NULL), TW_ERR_FORMAT);
		assert_non_null(strstr(tw_reader_error(reader), "expected the header of a trace"));
		tw_close(reader);
	}
	struct tw_reader *reader;
	assert_int_equal(tw_open_memory(&reader, "x", "\n[ ]", 4, NULL), 0);
	assert_string_equal(tw_reader_format(reader), "chrome");
	tw_close(reader);
}

static void test_forced_format(void **state)
{
	struct tw_reader *reader;
	(void)state;
	const struct tw_read_options options = {.format = "chrome"};
	assert_int_equal(tw_open_memory(&reader, "x", "hello", 5, &options), TW_ERR_FORMAT);
	assert_string_equal(tw_reader_error(reader), "x: offset 0x0: expected [ or {, found no JSON of events");
	tw_close(reader);
}

static void test_threads(void **state)
{
	static const char json[] =
	    "[{\"ph\":\"i\",\"ts\":1,\"pid\":1,\"tid\":1},{\"ph\":\"i\",\"ts\":2,\"pid\":1,\"tid\":2},"
	    "{\"ph\":\"k\",\"ts\":3,\"out\":{\"pid\":1,\"tid\":1},\"in\":{\"pid\":1,\"tid\":2}}]";
	const uint64_t threads[] = {2};
	(void)state;
	expect_scene(&(struct scene){"one thread", json, "2000 instant 1/2 \n3000 switch 1/1  other=1/2\n"},
	             &(struct tw_read_options){.threads = threads, .thread_count = 1});
}

static const struct tw_field *field(const struct tw_record *record, const char *name)
{
	for (size_t i = 0; i < record->field_count; i++)
		if (strcmp(record->fields[i].name, name) == 0)
			return &record->fields[i];
	return NULL;
}

static void expect_text(const struct tw_record *record, const char *name, const char *text)
{
	const struct tw_field *found = field(record, name);
	assert_non_null(found);
	assert_int_equal(found->type, TW_FIELD_TEXT);
	assert_int_equal(found->size, strlen(text));
	assert_memory_equal(found->value.bytes, text, found->size);
}

static void test_records(void **state)
{
	static const char json[] =
	    "[{\"ph\":\"X\",\"ts\":1.50,\"dur\":2,\"pid\":-1,\"tid\":\"a\\u0062\",\"name\":\"n\\n\",\"args\":{ \"a\" : [1]}}, 7,"
	    "{\"ph\":\"M\",\"name\":\"process_labels\"}]";
	struct tw_reader *reader;
	struct tw_record record;
	(void)state;
	const struct tw_read_options options = {.order = TW_ORDER_FILE};
	assert_int_equal(tw_open_memory(&reader, "x", json, strlen(json), &options), 0);
	assert_int_equal(tw_read_record(reader, &record), 1);
	assert_string_equal(record.kind, "complete");
	assert_int_equal(record.offset, 1);
	assert_int_equal(record.size, strchr(json, '7') - json - 3);
	expect_text(&record, "ph", "X");
	expect_text(&record, "ts", "1.50");
	expect_text(&record, "tid", "ab");
	expect_text(&record, "name", "n\n");
	expect_text(&record, "args", "{ \"a\" : [1]}");
	assert_int_equal(field(&record, "pid")->type, TW_FIELD_INT);
	assert_int_equal(field(&record, "pid")->value.i, -1);
	assert_int_equal(tw_read_record(reader, &record), 1);
	assert_string_equal(record.kind, "metadata");
	assert_int_equal(tw_read_record(reader, &record), 0);
	tw_close(reader);
}

static void test_filtered_records(void **state)
{
	static const char json[] =
	    "[{\"ph\":\"X\",\"ts\":10,\"dur\":2,\"name\":\"long\"},{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"short\"}]";
	struct tw_reader *reader;
	struct tw_record record;
	(void)state;
	const struct tw_read_options options = {.order = TW_ORDER_FILE, .min_duration_ns = 1500};
	assert_int_equal(tw_open_memory(&reader, "x", json, strlen(json), &options), 0);
	assert_int_equal(tw_read_record(reader, &record), 1);
	expect_text(&record, "name", "long");
	assert_int_equal(tw_read_record(reader, &record), 0);
	tw_close(reader);
}

static void test_info(void **state)
{
	static const char json[] =
	    "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":10,\"dur\":2,\"pid\":1,\"tid\":2,\"name\":\"x\"},{\"ph\":\"i\",\"ts\":5,\"pid\":1,"
	    "\"tid\":3},{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}}, 7]}";
	struct tw_reader *reader;
	struct tw_info info;
	(void)state;
	assert_int_equal(tw_open_memory(&reader, "x", json, strlen(json), NULL), 0);
	assert_int_equal(tw_read_info(reader, 1, &info), 0);
	assert_int_equal(info.bytes, strlen(json));
	assert_int_equal(info.records, 3);
	assert_int_equal(info.events, 2);
	assert_int_equal(info.lost_bytes, 1);
	assert_int_equal(info.clock_start_ns, 5000);
	assert_int_equal(info.span_ns, 7000);
	assert_int_equal(info.processes, 1);
	assert_int_equal(info.kind_count, 3);
	assert_string_equal(info.kinds[0].kind, "complete");
	assert_int_equal(info.kinds[0].count, 1);
	assert_int_equal(info.thread_count, 2);
	assert_int_equal(info.threads[0].thread, 2);
	assert_int_equal(info.threads[0].bytes, strchr(json + 17, '}') + 1 - (json + 16));
	assert_int_equal(info.threads[0].start_ns, 5000);
	assert_int_equal(info.threads[0].end_ns, 7000);
	tw_close(reader);
}

SUITE(chrome_reader)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_events_of_each_scene),
	    cmocka_unit_test(test_file_order),
	    cmocka_unit_test(test_memory_limit),
	    cmocka_unit_test(test_ids),
	    cmocka_unit_test(test_times_in_nanoseconds),
	    cmocka_unit_test(test_negative_times),
	    cmocka_unit_test(test_clock),
	    cmocka_unit_test(test_probe),
	    cmocka_unit_test(test_forced_format),
	    cmocka_unit_test(test_threads),
	    cmocka_unit_test(test_records),
	    cmocka_unit_test(test_filtered_records),
	    cmocka_unit_test(test_info),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

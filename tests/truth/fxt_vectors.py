# fxt_vectors.py - what the records of tests/data/fxt/vectors.tsv mean, by the tests that their numbers come from.
# SPDX-License-Identifier: Apache-2.0
"""EXPECTED: name -> fields, one dictionary a record. The two that disagree with the document are read by the document."""

STAMP = 0x1234567890abcdef
LATE = 0xaabbccddeeff0011
LONG = 0x1122334455667788
TEXT = b"This is some data that we are writing".hex()
BUFFER = b"Some data to write into the buffer".hex()
RAIN = b"the rain in spain falls mainly on the plain".hex()
PHONE = "123-456-7890"


def argument(kind, value, name=None, **more):
    return {"type": kind, "value": value, "name": name, **more}


def event(kind, **fields):
    return {"record": "event." + kind, **fields}


def cpp(kind, **fields):
    return [event(kind, timestamp=STAMP, category_ref=0x7777, name_ref=0x1234, thread_ref=1, **fields)]


def switch(kind, **fields):
    return {"record": "scheduling." + kind, **fields}


def flow(steps):
    return [event(kind, timestamp=time, process=process, thread=thread, category="CAT_AAAA", name=name,
                  **({"flow_correlation_id": 100} if "flow" in kind else {}))
            for kind, time, process, thread, name in steps]


def around(kind, time, process, thread, name):
    """A flow event in a slice."""
    return [("duration-begin", time, process, thread, name),
            (kind, time + (2 if kind == "flow-begin" else 1), process, thread, "FLOW_XXX"),
            ("duration-end", time + (3 if kind == "flow-begin" else 2), process, thread, name)]


OBJECT = [argument("double", 1007.893, name_ref=10), argument("string", PHONE, name_ref=11),
          argument("uint32", 23, "hello")]
A, B, C, D = 0x1aaaaaaaaaaaaaaa, 0x1bbbbbbbbbbbbbbb, 0x2ccccccccccccccc, 0x2ddddddddddddddd
ID = 0xaabbccdd

EXPECTED = {
    "cpp_provider_info": [{"record": "provider-info", "provider_id": ID, "name": "test_provider"}],
    "cpp_provider_section": [{"record": "provider-section", "provider_id": ID}],
    "cpp_provider_event": [{"record": "provider-event", "provider_id": ID, "event_id": 7}],
    "cpp_magic": [{"record": "magic"}],
    "cpp_init": [{"record": "initialization", "ticks_per_second": 0xabcd}],
    "cpp_instant": cpp("instant"),
    "cpp_instant_inline_strings": [event("instant", category="category", name="name longer than eight bytes")],
    "cpp_instant_thread_ab": [event("instant", thread_ref=0xab, category_ref=1, name_ref=2)],
    "cpp_instant_inline_thread": [event("instant", thread_ref=0, process=0xdeadbeef, thread=0xcafef00d)],
    "cpp_instant_null_arg": [event("instant", arguments=[argument("null", None, name_ref=0x7fff)])],
    "cpp_instant_null_arg_inline": [event("instant", arguments=[argument("null", None, "argname")])],
    "cpp_arguments": [event("instant", arguments=[
        argument("null", None), argument("bool", True), argument("int32", 0x12345678), argument("uint32", 0x567890ab),
        argument("int64", STAMP), argument("uint64", 0xfedcba0987654321), argument("double", 1234.5678),
        argument("pointer", 0xdeadbeef), argument("koid", 0x12345678), argument("string", None, value_ref=11),
        argument("string", "inline"), argument("string", "inline", "inline"), argument("blob", "0102030405")])],
    "cpp_counter": cpp("counter", arguments=[argument("bool", True, name_ref=0x2345)], counter_id=0x334455667788),
    "cpp_dur_begin": cpp("duration-begin"),
    "cpp_dur_end": cpp("duration-end"),
    "cpp_dur_complete": cpp("duration-complete", end_time=LONG),
    "cpp_async_begin": cpp("async-begin", async_correlation_id=LONG),
    "cpp_async_instant": cpp("async-instant", async_correlation_id=LONG),
    "cpp_async_end": cpp("async-end", async_correlation_id=LONG),
    "cpp_flow_begin": cpp("flow-begin", flow_correlation_id=LONG),
    "cpp_flow_step": cpp("flow-step", flow_correlation_id=LONG),
    "cpp_flow_end": cpp("flow-end", flow_correlation_id=LONG),
    "cpp_blob": [{"record": "blob", "name_ref": 0x7777, "blob_type": 1, "payload_size": 37, "payload": TEXT}],
    "cpp_userspace_object": [{"record": "userspace-object", "pointer": 0xdeadbeef, "thread_ref": 0xaa,
                              "name_ref": 0x7777, "arguments": [argument("bool", True, name_ref=0x1234)]}],
    "cpp_kernel_object": [{"record": "kernel-object", "object_type": 4, "koid": 0xdeadbeef, "name_ref": 0x7777,
                           "arguments": [argument("bool", False, name_ref=0x4321)]}],
    "cpp_kernel_object_inline": [{"record": "kernel-object", "koid": 0xdeadbeef, "name": "name",
                                  "arguments": [argument("bool", False, "arg")]}],
    "cpp_legacy_switch": [switch("legacy-context-switch", timestamp=LATE, cpu=0xbb, outgoing_thread_state=2,
                                 outgoing_thread_ref=1, incoming_thread_ref=2, outgoing_thread_priority=3,
                                 incoming_thread_priority=4)],
    "cpp_switch": [switch("context-switch", timestamp=LATE, cpu=0xbbbb, outgoing_thread_state=2, outgoing_thread=1,
                          incoming_thread=2, arguments=[argument("int32", 3, name_ref=1),
                                                        argument("int32", 4, name_ref=2)])],
    "cpp_wakeup": [switch("thread-wakeup", timestamp=LATE, cpu=0xbbbb, waking_thread=2,
                          arguments=[argument("int32", 4, name_ref=2)])],
    "cpp_log": [{"record": "log", "timestamp": LATE, "thread_ref": 1, "message": "This is a log message"}],
    "cpp_large_blob_meta": [{"record": "large-blob", "blob_format": 0, "category_ref": 0x7aaa, "name_ref": 0x7bbb,
                             "timestamp": LATE, "thread_ref": 0xcc, "payload_size": 34, "payload": BUFFER,
                             "arguments": [argument("bool", True, name_ref=0x2345)]}],
    "cpp_large_blob_nometa": [{"record": "large-blob", "blob_format": 1, "category_ref": 0x7aaa, "name_ref": 0x7bbb,
                               "payload_size": 34, "payload": BUFFER}],
    "cpp_thread": [{"record": "thread", "index": 0xaa, "process": 0x0123456789abcdef, "thread": 0xfecdba9876543210}],
    "cpp_prof_module": [{"record": "profiler.module", "timestamp": STAMP, "thread_ref": 0xcc, "module_id": 0xabcd,
                         "name": "module_name", "build_id": "333e89f0c175000cee9b7e201fedcd6f9b4ba8ae"}],
    "cpp_prof_mmap": [{"record": "profiler.mmap", "timestamp": STAMP, "thread_ref": 0xcc, "module_id": 0xabcd,
                       "flags": 5, "start": 0x1000, "range": 0x2000, "vaddr": 0x3000}],
    "cpp_prof_backtrace": [{"record": "profiler.backtrace", "process": 0xdeadbeef, "thread": 0xcafef00d,
                            "pcs": [1, 2, 3]}],
    "rs_event_no_args": [event("instant", timestamp=2048, thread_ref=11, category_ref=27, name_ref=93, arguments=[])],
    "rs_event_with_args": [event("duration-complete", timestamp=2048, process=345, thread=678, end_time=4096,
                                 category="event_category", name="event_name",
                                 arguments=[argument("string", "val1", "arg1"), argument("pointer", 123456, "arg2")])],
    "rs_blob_index": [{"record": "blob", "name_ref": 15, "blob_type": 1, "payload": bytes(range(1, 24)).hex()}],
    "rs_blob_inline": [{"record": "blob", "name": "foo_blob", "blob_type": 3, "payload_size": 25,
                        "payload": bytes(range(1, 26)).hex()}],
    "rs_blob_1024": [{"record": "blob", "name_ref": 15, "payload_size": 1024, "payload": "ef" * 1024}],
    "rs_large_blob_nometa_DISAGREES": [{"record": "unknown", "type": 15, "subtype": 1, "size": 64}],
    "rs_large_blob_meta_DISAGREES": [],
    "rs_switch": [switch("context-switch", timestamp=1024, cpu=6, outgoing_thread_state=4, outgoing_thread=5,
                         incoming_thread=8, arguments=[argument("int32", 12, "incoming_weight"),
                                                       argument("int32", 14, "outgoing_weight")])],
    "rs_wakeup": [switch("thread-wakeup", timestamp=1024, cpu=6, waking_thread=5,
                         arguments=[argument("int32", 12, "weight")])],
    "rs_legacy_switch": [switch("legacy-context-switch", timestamp=1024, cpu=6, outgoing_thread_state=2,
                                outgoing_process=25, outgoing_thread=26, incoming_process=100, incoming_thread=101,
                                outgoing_thread_priority=10, incoming_thread_priority=11)],
    "rs_uobj": [{"record": "userspace-object", "pointer": 1024, "thread_ref": 12, "name_ref": 18, "arguments": []}],
    "rs_uobj_args": [{"record": "userspace-object", "pointer": 2048, "thread_ref": 12, "arguments": OBJECT}],
    "rs_kobj": [{"record": "kernel-object", "object_type": 4, "koid": 64, "name_ref": 19, "arguments": []}],
    "rs_kobj_args": [{"record": "kernel-object", "object_type": 19, "koid": 128, "arguments": OBJECT}],
    "rs_provider_info": [{"record": "provider-info", "provider_id": 16, "name": "hello"}],
    "rs_provider_section": [{"record": "provider-section", "provider_id": 16}],
    "rs_provider_event": [{"record": "provider-event", "provider_id": 16, "event_id": 0}],
    "rs_string": [{"record": "string", "index": 10, "value": "hellooooo"}],
    "rs_prof_module": [{"record": "profiler.module", "timestamp": 5000, "process": 123, "thread": 0, "module_id": 99,
                        "name": "test_module.so", "build_id": "68920bd06a8149b58004cea8a0dd260b05e87d57"}],
    "rs_prof_module_old": [{"record": "profiler.module", "timestamp": 5000, "process": 123, "thread": None,
                            "module_id": 99, "name": "test_module.so"}],
    "rs_prof_mmap": [{"record": "profiler.mmap", "timestamp": 6000, "process": 456, "module_id": 101, "flags": 1,
                      "start": 0x1000, "range": 0x2000, "vaddr": 0x3000}],
    "rs_prof_backtrace": [{"record": "profiler.backtrace", "timestamp": 7000, "process": 789, "thread": 987,
                           "flags": 2, "pcs": [70551654306969, 1256204603]}],
    "pf_corrupt_size0": [],
    "pf_inline_instant": [event("instant", timestamp=0x5555555555555555, process=0xbbbbbbbbbbbbbbbb,
                                thread=0xcccccccccccccccc, category="\N{REPLACEMENT CHARACTER}" * 8,
                                name="\N{REPLACEMENT CHARACTER}" * 8)],
    "pf_bool_args": [event("instant", arguments=[argument("bool", True, "\0" * 8), argument("blob", "", "\0" * 8)])],
    "pf_sched": [switch("thread-wakeup", timestamp=1, cpu=1, waking_thread=A),
                 switch("context-switch", timestamp=2, cpu=1, outgoing_thread=A, incoming_thread=C),
                 switch("context-switch", timestamp=3, cpu=1, outgoing_thread=C, incoming_thread=A)],
    "pf_sched_waker": [switch("context-switch", timestamp=1, outgoing_thread=A, incoming_thread=C),
                       switch("thread-wakeup", timestamp=2, waking_thread=A, arguments=[argument("koid", C, "waker")])],
    "pf_legacy": [switch("legacy-context-switch", timestamp=time, cpu=1, outgoing_process=out, outgoing_thread=out_thread,
                         incoming_process=into, incoming_thread=into_thread)
                  for time, out, out_thread, into, into_thread in ((1, 0, 0, A, B), (2, A, B, C, D), (3, C, D, A, B))],
    "pf_flow": flow(around("flow-begin", 10, 1, 2, "NAME_S_1") + around("flow-end", 14, 1, 3, "NAME_S_2")),
    "pf_flow_xproc": flow(around("flow-begin", 10, 1, 2, "NAME_S_1") + around("flow-end", 14, 2, 3, "NAME_S_2")),
    "pf_flow_ambiguous": flow(
        around("flow-begin", 10, 1, 2, "NAME_S_1") + around("flow-begin", 10, 3, 4, "NAME_S_4") +
        around("flow-end", 14, 1, 2, "NAME_S_3") + around("flow-end", 14, 2, 3, "NAME_S_2")),
}

# One argument each, its name an index and in the record.
ARGUMENTS = {"null": ("null", None, None), "i32": ("int32", -19, -19), "u32": ("uint32", 23, 23),
             "i64": ("int64", -79, -845), "u64": ("uint64", 1024, 4096), "f64": ("double", 1007.893, 23634.1231),
             "ptr": ("pointer", 256, 512), "koid": ("koid", 17, 21), "bool": ("bool", True, True),
             "blob": ("blob", RAIN, RAIN)}
for word, (kind, by_index, by_name) in ARGUMENTS.items():
    EXPECTED[f"rs_arg_{word}_index"] = [event("instant", timestamp=1, arguments=[argument(kind, by_index, name_ref=10)])]
    EXPECTED[f"rs_arg_{word}_inline"] = [event("instant", timestamp=1, arguments=[argument(kind, by_name, "hello")])]
for word, name in (("index", None), ("inline", "hello")):
    EXPECTED[f"rs_arg_str_{word}_vindex"] = [event("instant", arguments=[argument("string", None, name)])]
    EXPECTED[f"rs_arg_str_{word}_vinline"] = [event("instant", arguments=[argument("string", PHONE, name)])]

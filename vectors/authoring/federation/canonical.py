"""Canonical JSON, and reading lines as everybody must (section F.2)."""

from typing import Any

from vectors.authoring.kit import Expected, Json, ok, refused, vector


def text(value: str | Json) -> Json:
    return {"op": "canonicalize", "text": value}


def becomes(value: str | Json, canonical: str, **more: Any) -> Expected:
    return ok(text(value), canonical=canonical, **more)


def no_json(value: str | Json) -> Expected:
    return refused(text(value))


VECTORS = [
    vector(
        "canonical.sorts-keys-by-utf16",
        "Keys are sorted by their UTF-16 code units, not by code points or in any locale",
        becomes('{"b":1,"a":2,"B":3,"":4}', '{"":4,"B":3,"a":2,"b":1}'),
        becomes('{"\uffff":1,"\U0001f600":2}', '{"\U0001f600":2,"\uffff":1}'),
        becomes('{"é":1,"z":2,"e\u0301":3}', '{"e\u0301":3,"z":2,"é":1}'),
        becomes('[ {"b" : [ ] , "a" : { } } ]', '[{"a":{},"b":[]}]'),
        sections=("F.2",),
    ),
    vector(
        "canonical.writes-numbers-as-ecmascript",
        "A number is the double its literal names, written as ECMAScript writes it",
        becomes("[0,-0,-0.0,5.0,1e2,0.1e1]", "[0,0,0,5,100,1]"),
        becomes("[1e21,1e20,123456789012345680000]", "[1e+21,100000000000000000000,123456789012345680000]"),
        becomes("[1e-6,1e-7,0.000001,1.5e-9]", "[0.000001,1e-7,0.000001,1.5e-9]"),
        becomes("[9007199254740993,10000000000000000]", "[9007199254740992,10000000000000000]"),
        becomes(
            "[333333333.33333329,5e-324,1.7976931348623157e308]",
            "[333333333.3333333,5e-324,1.7976931348623157e+308]",
        ),
        becomes("[4.35,0.1,100.5,1e-400]", "[4.35,0.1,100.5,0]"),
        sections=("F.2",),
    ),
    vector(
        "canonical.writes-small-numbers",
        "A number down to a millionth is written without an exponent, whatever stands beside it",
        becomes("[0.00001]", "[0.00001]"),
        becomes('{"n":1.5e-6}', '{"n":0.0000015}'),
        becomes("-2.5e-5", "-0.000025"),
        becomes("[1.5e-7]", "[1.5e-7]"),
        sections=("F.2",),
    ),
    vector(
        "canonical.reads-long-integers-as-doubles",
        "An integer literal of any length reads as the double it names",
        becomes("[1" + "0" * 400 + "e-400]", "[1]"),
        becomes("[" + "9" * 17 + "]", "[100000000000000000]"),
        becomes("[-" + "1" * 30 + "]", "[-1.111111111111111e+29]"),
        no_json("[1" + "0" * 400 + "]"),
        sections=("F.2",),
    ),
    vector(
        "canonical.refuses-numbers-beyond-doubles",
        "A literal beyond the doubles is refused, wherever it stands",
        no_json("1e400"),
        no_json('{"a":[-1e999]}'),
        sections=("F.2",),
    ),
    vector(
        "canonical.escapes-only-what-must-be",
        "Strings escape the quotation mark, the backslash and the C0 controls, in their shortest form",
        becomes(
            r'"\u0008\u0009\u000a\u000c\u000d\u0022\u005c\u002f\u0000\u001f"',
            r'"\b\t\n\f\r\"\\/\u0000\u001f"',
        ),
        becomes(r'"\u007f\u00e9\u20ac\ud83d\ude00\u2028"', '"\x7fé€\U0001f600\u2028"'),
        sections=("F.2",),
    ),
    vector(
        "canonical.refuses-lone-surrogates",
        "A lone surrogate has no canonical form, in a string or a key",
        no_json(r'"\ud800"'),
        no_json(r'["\udc00\ud800"]'),
        no_json(r'{"\udfff":1}'),
        sections=("F.2",),
    ),
    vector(
        "canonical.keeps-the-last-of-repeated-keys",
        "Of a repeated key the last value counts, also where one is written with escapes",
        becomes('{"a":1,"a":2}', '{"a":2}', repeatedKeys=True),
        becomes(r'{"a":1,"\u0061":2}', '{"a":2}', repeatedKeys=True),
        becomes('{"x":{"a":1,"b":2,"a":3}}', '{"x":{"a":3,"b":2}}', repeatedKeys=True),
        becomes('{"a":1,"A":2}', '{"A":2,"a":1}', repeatedKeys=False),
        sections=("F.2",),
    ),
    vector(
        "canonical.refuses-nesting-past-256",
        "256 containers may enclose one another, and no more",
        becomes("[" * 256 + "]" * 256, "[" * 256 + "]" * 256),
        no_json("[" * 257 + "]" * 257),
        no_json('{"a":' * 257 + "1" + "}" * 257),
        becomes('"' + "[" * 300 + '"', '"' + "[" * 300 + '"'),
        sections=("F.2",),
    ),
    vector(
        "canonical.refuses-what-is-not-json",
        "What JSON does not allow is refused",
        *(
            no_json(each)
            for each in (
                "",
                "NaN",
                "[Infinity]",
                "[1,]",
                "{'a':1}",
                "[01]",
                "[+1]",
                "[.5]",
                "[1.]",
                '"\t"',
                r'"\x41"',
            )
        ),
        no_json("\ufeff[]"),
        no_json("[] []"),
        no_json("\u00a0[]"),
        sections=("F.2",),
    ),
    vector(
        "canonical.reads-invalid-utf8-as-u-fffd",
        "Bytes that are not UTF-8 are read as U+FFFD, one for each sequence that breaks off",
        becomes({"hex": "2261ff6222"}, '"a\ufffdb"'),
        becomes({"hex": "22e28222"}, '"\ufffd"'),
        becomes({"hex": "22c0af22"}, '"\ufffd\ufffd"'),
        becomes({"hex": "22eda08022"}, '"\ufffd\ufffd\ufffd"'),
        becomes({"hex": "22f09f9822"}, '"\ufffd"'),
        no_json({"hex": "ff5b5d"}),
        sections=("F.2",),
    ),
    vector(
        "canonical.keeps-every-line-break-in-a-string",
        "A line is cut at line feeds alone: every other line break may stand in a string as it is or escaped",
        becomes('"\u0085\u2028\u2029"', '"\u0085\u2028\u2029"'),
        becomes(r'"\r\n\u000b\f"', r'"\r\n\u000b\f"'),
        sections=("1.4", "F.2"),
    ),
]

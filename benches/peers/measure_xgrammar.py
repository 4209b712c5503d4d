"""XGrammar under the protocol of `benches/protocol`: JSON lines in, JSON lines out.

The first line of input is the vocabulary; each other line is a schema with texts as token ids. What
is timed is what the Rust side times for the other engines: compiling with the first mask; for each
position filling the mask, looking the token up, accepting it.
"""

import importlib.metadata
import json
import resource
import statistics
import sys
import time
import types

import numpy
import tvm_ffi

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError:
    # The package asks for both, and masks need neither: names that are never called stand in.
    torch, transformers = types.ModuleType("torch"), types.ModuleType("transformers")
    torch.int32, torch.tensor = numpy.int32, lambda value, dtype: numpy.array(value, dtype)
    torch.Tensor = torch.LongTensor = torch.FloatTensor = numpy.ndarray
    transformers.LogitsProcessor = object
    transformers.PreTrainedTokenizerBase = transformers.PreTrainedTokenizerFast = object
    sys.modules.update(torch=torch, transformers=transformers)

import xgrammar

# A schema that takes more ends the process instead of the machine.
MOST_BYTES = 8 << 30
NOW = time.perf_counter_ns


class Engine:
    def __init__(self, setup):
        words = [bytes.fromhex(word) for word in setup["vocabulary"]]
        self.ends = setup["end"]
        self.any_whitespace = setup["any_whitespace"]
        self.passes = setup["passes"]
        info = xgrammar.TokenizerInfo(words, xgrammar.VocabType.RAW, stop_token_ids=self.ends)
        # One thread, as the other engines; a cache would know schemas from before.
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        # One mask, as either side reads it fastest: no conversion in any call.
        mask = numpy.zeros((1, (len(words) + 31) // 32), dtype=numpy.int32)
        self.mask, self.words = tvm_ffi.from_dlpack(mask), memoryview(mask[0])

    def floor(self):
        """The time of one position in which the engine does nothing: the clock, two calls of the
        binding, one bit looked up."""
        grammar = self.compiler.compile_json_schema('{"type": "null"}')
        matcher = xgrammar.GrammarMatcher(grammar)
        times = []
        for _ in range(20_000):
            start = NOW()
            matcher.is_terminated()
            self.allows(0)
            matcher.is_terminated()
            times.append(NOW() - start)
        return int(statistics.median(times))

    def allows(self, token):
        return self.words[token >> 5] >> (token & 31) & 1

    def run(self, task):
        start = NOW()
        grammar = self.compiler.compile_json_schema(
            task["schema"], any_whitespace=self.any_whitespace
        )
        xgrammar.GrammarMatcher(grammar).fill_next_token_bitmask(self.mask)
        ttfm = NOW() - start
        return {"ttfm": ttfm, "trials": [self.fastest(grammar, ids) for ids in task["texts"]]}

    def fastest(self, grammar, ids):
        """Each position's smallest time of all passes, which share what was compiled."""
        trials = [self.trial(grammar, ids) for _ in range(self.passes)]
        times = zip(*(trial["masks"] for trial in trials))
        return {"accepted": trials[0]["accepted"], "masks": [min(each) for each in times]}

    def trial(self, grammar, ids):
        matcher = xgrammar.GrammarMatcher(grammar)
        masks = []
        for token in ids:
            start = NOW()
            matcher.fill_next_token_bitmask(self.mask)
            allowed = self.allows(token) and matcher.accept_token(token)
            masks.append(NOW() - start)
            if not allowed:
                return {"accepted": False, "masks": masks}
        start = NOW()
        matcher.fill_next_token_bitmask(self.mask)
        accepted = any(self.allows(token) for token in self.ends)
        masks.append(NOW() - start)
        return {"accepted": bool(accepted), "masks": masks}


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    engine = Engine(json.loads(sys.stdin.readline()))
    ready = {"version": importlib.metadata.version("xgrammar"), "floor": engine.floor()}
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        try:
            answer = engine.run(json.loads(line))
        except Exception as error:  # whatever it raises is its verdict on the schema
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()

// The Transformer of lesson 12 in plain JavaScript: what `models/transformer.py` computes for one sentence, with nothing
// but loops over numbers. A list of T vectors is an array of Float32Arrays of length D; nothing here trains.
//
// Here: the forward pass, and what every head attended to. Not here: text to ids and back (`subwords.js`), the page.
// Shape letters: S source positions, T target positions, D width, d head width, F hidden width, V vocabulary.
"use strict";

const Attention = (() => {
  const BOS = 1, EOS = 2; // ids of what begins and ends a text; 0 is padding, which one sentence needs none of

  // Arithmetic on vectors

  // W x + b, where W is given row by row as PyTorch keeps it: out × in.
  function linear({ weight, bias }, x) {
    const inputs = x.length;
    const out = new Float32Array(weight.length / inputs);
    for (let o = 0, at = 0; o < out.length; o++) {
      let sum = bias ? bias[o] : 0;
      for (let i = 0; i < inputs; i++) sum += weight[at++] * x[i];
      out[o] = sum;
    }
    return out;
  }

  const add = (x, y) => x.map((value, i) => value + y[i]);
  const relu = (x) => x.map((value) => Math.max(0, value));

  function dot(x, y) {
    let sum = 0;
    for (let i = 0; i < x.length; i++) sum += x[i] * y[i];
    return sum;
  }

  // Subtract the mean, divide by the standard deviation, then scale and shift.
  function layerNorm({ weight, bias }, x) {
    const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
    const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
    return x.map((value, i) => ((value - mean) / Math.sqrt(variance + 1e-5)) * weight[i] + bias[i]);
  }

  function softmax(scores, temperature = 1) {
    const largest = Math.max(...scores);
    const powers = Array.from(scores, (score) => Math.exp((score - largest) / temperature));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }

  function weightedSum(weights, vectors) {
    const sum = new Float32Array(vectors[0].length);
    vectors.forEach((vector, s) => {
      for (let i = 0; i < sum.length; i++) sum[i] += weights[s] * vector[i];
    });
    return sum;
  }

  // Attention: one query looks at keys, and gets a weighted sum of values

  function attend(query, keys, values) {
    const scores = keys.map((key) => dot(query, key));
    const scaled = scores.map((score) => score / Math.sqrt(query.length)); // by √d
    const weights = softmax(scaled);
    return { scores, scaled, weights, context: weightedSum(weights, values) };
  }

  // The same in H subspaces at once. A head that is switched off adds nothing.
  function multiHead(parts, x, memory, { heads, isOff = () => false }) {
    const query = linear(parts.query, x);
    const d = query.length / heads;
    const merged = new Float32Array(query.length);
    const seen = [];
    for (let h = 0; h < heads; h++) {
      const own = (vector) => vector.subarray(h * d, (h + 1) * d);
      const found = attend(own(query), memory.keys.map(own), memory.values.map(own));
      if (!isOff(h)) merged.set(found.context, h * d);
      seen.push(found);
    }
    return { out: linear(parts.output, merged), seen };
  }

  // The keys and the values of a vector come from one matrix: W^K above W^V.
  function remember(parts, x, memory) {
    const both = linear(parts.key_value, x);
    memory.keys.push(both.subarray(0, both.length / 2));
    memory.values.push(both.subarray(both.length / 2));
    return memory;
  }

  const empty = () => ({ keys: [], values: [] });
  const feedForward = (parts, x) => linear(parts[2], relu(linear(parts[0], x)));

  // The models

  // What translators have in common. A class of them says how to `encode` a source and how to take a `step`.
  class Translator {
    off = new Set(); // heads of a Transformer that are switched off, such as "source 1 head 2"

    // tensors: {name: Float32Array}, as `load` returns them; config: that of model.json.
    constructor(tensors, config) {
      Object.assign(this, nested(tensors));
      this.config = config;
    }

    // The most probable id at each step until EOS; `forced` begins the translation. At most `longest` ids.
    *translate(ids, forced = [], longest = 2 * ids.length + 10) {
      const state = this.encode(ids);
      let id = BOS;
      for (let t = 0; id !== EOS; t++) {
        const { logits, seen } = this.step(id, state);
        const best = t < longest ? argmax(logits, EOS) : EOS;
        id = t < forced.length ? forced[t] : best;
        yield { id, best, logits, seen, source: state.seen };
      }
    }
  }

  class Transformer extends Translator {
    // A word's vector times √D, plus the sines and cosines of its position.
    embed(id, position) {
      const D = this.config.width;
      const word = this.embedding.words.weight.subarray(id * D, (id + 1) * D);
      return word.map((value, i) => {
        const angle = position / 10000 ** ((i - (i % 2)) / D);
        return Math.fround(value * Math.sqrt(D)) + (i % 2 ? Math.cos(angle) : Math.sin(angle));
      });
    }

    attention(name, parts, x, memory) {
      const isOff = (h) => this.off.has(`${name} head ${h}`);
      return multiHead(parts, x, memory, { heads: this.config.heads, isOff });
    }

    // Read the source, ids ending in EOS: what the decoder asks, and where each position looked in each layer.
    encode(ids) {
      let xs = ids.map((id, position) => this.embed(id, position)); // S D
      const seen = {};
      each(this.encoder, (layer, i) => {
        const normed = xs.map((x) => layerNorm(layer.first.norm, x));
        const memory = empty();
        normed.forEach((x) => remember(layer.self_attention, x, memory));
        seen[`encoder ${i}`] = [];
        xs = xs.map((x, s) => {
          const found = this.attention(`encoder ${i}`, layer.self_attention, normed[s], memory);
          seen[`encoder ${i}`].push(found.seen);
          return add(x, found.out);
        });
        xs = xs.map((x) => add(x, feedForward(layer.feed_forward, layerNorm(layer.second.norm, x))));
      });
      xs = xs.map((x) => layerNorm(this.encoder_norm, x));
      const source = each(this.decoder, (layer) =>
        xs.reduce((memory, x) => remember(layer.source_attention, x, memory), empty()));
      return { source, own: each(this.decoder, empty), seen, position: 0 };
    }

    // Read one more target id: the logits of the next one, and where it looked. The state grows by one position.
    step(id, state) {
      let x = this.embed(id, state.position++);
      const seen = {};
      each(this.decoder, (layer, i) => {
        let normed = layerNorm(layer.first.norm, x);
        remember(layer.self_attention, normed, state.own[i]); // the cache: earlier words need not be read again
        let found = this.attention(`decoder ${i}`, layer.self_attention, normed, state.own[i]);
        seen[`decoder ${i}`] = found.seen;
        x = add(x, found.out);
        normed = layerNorm(layer.second.norm, x);
        found = this.attention(`source ${i}`, layer.source_attention, normed, state.source[i]);
        seen[`source ${i}`] = found.seen;
        x = add(x, found.out);
        x = add(x, feedForward(layer.feed_forward, layerNorm(layer.third.norm, x)));
      });
      const logits = linear(this.embedding.words, layerNorm(this.decoder_norm, x)); // V
      return { logits, seen };
    }
  }

  // The largest one's place, from `first` on: PAD and BOS, the ids before EOS, are never written.
  function argmax(numbers, first) {
    let best = first;
    for (let i = first; i < numbers.length; i++) if (numbers[i] > numbers[best]) best = i;
    return best;
  }

  const each = (layers, make) => Object.keys(layers).map((i) => make(layers[i], i));

  // {"encoder.0.first.norm.bias": …} becomes {encoder: {0: {first: {norm: {bias: …}}}}}.
  function nested(tensors) {
    const tree = {};
    for (const [name, values] of Object.entries(tensors)) {
      const path = name.split(".");
      const last = path.pop();
      path.reduce((branch, part) => (branch[part] ??= {}), tree)[last] = values;
    }
    return tree;
  }

  // Read a safetensors file of half-precision numbers, given in base64: {name: Float32Array}.
  function load(base64) {
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i); // Uint8Array.from takes 18 times as long
    const buffer = bytes.buffer;
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    const tensors = {};
    for (const [name, about] of Object.entries(header)) {
      if (name === "__metadata__") continue;
      if (about.dtype !== "F16") throw new Error(`${name} is ${about.dtype}, and half precision was expected`);
      const [begin, end] = about.data_offsets;
      tensors[name] = fromHalf(new Uint16Array(buffer.slice(8 + length + begin, 8 + length + end)));
    }
    return tensors;
  }

  // Half precision: a sign, 5 bits of exponent, 10 bits of fraction. All 65,536 numbers there are, once.
  const HALF = Float32Array.from({ length: 65536 }, (_, bits) => {
    const exponent = (bits >> 10) & 31, fraction = (bits & 1023) / 1024;
    return (bits >> 15 ? -1 : 1) * (exponent ? 2 ** (exponent - 15) * (1 + fraction) : 2 ** -14 * fraction);
  });

  function fromHalf(bits) {
    const numbers = new Float32Array(bits.length);
    for (let i = 0; i < bits.length; i++) numbers[i] = HALF[bits[i]];
    return numbers;
  }

  return { Translator, Transformer, load, linear, add, dot, softmax, weightedSum, EOS };
})();

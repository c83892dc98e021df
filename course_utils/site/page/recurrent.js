// The translator of lesson 06 in plain JavaScript: what `models/recurrent.py` computes for one sentence with the attention of
// Bahdanau et al. 2014, or without attention. Vectors and arithmetic are those of `transformer.js`.
"use strict";

Attention.Recurrent = (() => {
  const { Translator, linear, add, dot, softmax, weightedSum } = Attention;
  const joined = (...vectors) => Float32Array.from(vectors.flatMap((vector) => [...vector]));
  const tanh = (x) => x.map(Math.tanh);
  const sigmoid = (x) => 1 / (1 + Math.exp(-x));

  // A gated recurrent unit. `projected` is W x + b for its gates r and z and the new state n, one above the other.
  const project = (gru, x) => linear({ weight: gru.weight_ih_l0, bias: gru.bias_ih_l0 }, x);

  function advance(gru, projected, state) {
    const own = linear({ weight: gru.weight_hh_l0, bias: gru.bias_hh_l0 }, state);
    const H = state.length;
    return state.map((old, i) => {
      const reset = sigmoid(projected[i] + own[i]);
      const update = sigmoid(projected[H + i] + own[H + i]);
      const fresh = Math.tanh(projected[2 * H + i] + reset * own[2 * H + i]);
      return (1 - update) * fresh + update * old;
    });
  }

  return class Recurrent extends Translator {
    embed(id) {
      const D = this.config.width;
      return this.embedding.weight.subarray(id * D, (id + 1) * D).map((value) => value * Math.sqrt(D));
    }

    // Read the source from both sides: a summary, and an annotation of each word, which is a value, with the key made of it.
    encode(ids) {
      const read = (gru, words) => {
        let state = new Float32Array(this.config.encoder_hidden);
        return words.map((word) => (state = advance(gru, project(gru, word), state)));
      };
      const words = ids.map((id) => this.embed(id)); // S D
      const forward = read(this.encoder.forward_gru, words);
      const backward = read(this.encoder.backward_gru, [...words].reverse()).reverse();
      const { attention } = this.decoder;
      const summary = joined(forward[forward.length - 1], backward[0]); // E
      const values = forward.map((state, s) => joined(state, backward[s])); // S E
      const keys = attention && values.map((value) => linear({ weight: attention.weight_h }, value)); // S A
      return { summary, values, keys, state: tanh(linear(this.initial, summary)) };
    }

    // Look at the source with the state as query, then read one more target id: the logits of the next one, and the weights.
    // Without attention, every step gets the summary.
    step(id, memory) {
      const { attention, gru, context: intoGates, merge } = this.decoder;
      const word = this.embed(id);
      const weights = attention && this.look(attention, memory); // S
      const context = attention ? weightedSum(weights, memory.values) : memory.summary; // E
      const projected = attention ? add(project(gru, word), linear(intoGates, context)) : project(gru, joined(word, context));
      memory.state = advance(gru, projected, memory.state);
      const features = tanh(linear(merge, joined(memory.state, context, word))); // D
      return { logits: linear(this.embedding, features), seen: weights };
    }

    look({ weight_s, v }, { state, keys }) {
      const query = linear({ weight: weight_s }, state); // A
      return softmax(keys.map((key) => dot(v, tanh(add(query, key)))));
    }
  };
})();

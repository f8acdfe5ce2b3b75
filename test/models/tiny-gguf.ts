/** What a test model is made of; more of everything makes it larger and slower. */
export interface TinyModelOptions {
  /** Another seed is another model: other weights, other text. */
  readonly seed?: number;
  readonly embedding?: number;
  readonly feedForward?: number;
  readonly blocks?: number;
  readonly context?: number;
}

/** Types of values in the header (GGUF specification, version 3). */
const U32 = 4;
const I32 = 5;
const F32 = 6;
const STRING = 8;
const ARRAY = 9;

const ALIGNMENT = 32;
const HEADS = 4;
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const BYTE = 6;
const SYLLABLES = [
  'ba',
  'ce',
  'di',
  'fo',
  'gu',
  'ha',
  'je',
  'ki',
  'lo',
  'mu',
  'na',
  'pe',
  'ri',
  'so',
  'tu',
  'va',
];

const TEMPLATE =
  "{{ bos_token }}{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}{% if add_generation_prompt %}{{ 'assistant: ' }}{% endif %}";

interface Tensor {
  readonly name: string;
  readonly dimensions: readonly number[];
  readonly data: Float32Array;
}

/**
 * A whole language model in a file: GGUF version 3, the llama architecture, 32-bit random weights and a vocabulary of
 * bytes and syllables. It knows nothing, and says it the same way each time: the default has about 480 KB.
 *
 * @example writeFileSync('tiny.gguf', tinyModel({ seed: 7 }));
 */
export function tinyModel({
  seed = 1,
  embedding = 64,
  feedForward = 128,
  blocks = 2,
  context = 2048,
}: TinyModelOptions = {}): Buffer {
  const tokens = vocabulary();
  const tensors = makeTensors(random(seed), {
    embedding,
    feedForward,
    blocks,
    words: tokens.length,
  });
  const header = [
    text('general.architecture', 'llama'),
    text('general.name', `Tiny ${seed}`),
    number('llama.context_length', context),
    number('llama.embedding_length', embedding),
    number('llama.block_count', blocks),
    number('llama.feed_forward_length', feedForward),
    number('llama.attention.head_count', HEADS),
    number('llama.attention.head_count_kv', HEADS),
    entry('llama.attention.layer_norm_rms_epsilon', F32, f32(1e-5)),
    number('llama.rope.dimension_count', embedding / HEADS),
    number('llama.vocab_size', tokens.length),
    text('tokenizer.ggml.model', 'llama'),
    list(
      'tokenizer.ggml.tokens',
      STRING,
      tokens.map(({ text }) => string(text)),
    ),
    list(
      'tokenizer.ggml.scores',
      F32,
      tokens.map(({ score }) => f32(score)),
    ),
    list(
      'tokenizer.ggml.token_type',
      I32,
      tokens.map(({ type }) => u32(type)),
    ),
    number('tokenizer.ggml.unknown_token_id', 0),
    number('tokenizer.ggml.bos_token_id', 1),
    number('tokenizer.ggml.eos_token_id', 2),
    text('tokenizer.chat_template', TEMPLATE),
  ];
  return assemble(header, tensors);
}

function vocabulary(): { readonly text: string; readonly type: number; readonly score: number }[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => ({
    text: `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
    type: BYTE,
    score: 0,
  }));
  const words = SYLLABLES.flatMap((first) =>
    ['▁', ...SYLLABLES].map((second) => (second === '▁' ? `▁${first}` : first + second)),
  );
  return [
    { text: '<unk>', type: UNKNOWN, score: 0 },
    { text: '<s>', type: CONTROL, score: 0 },
    { text: '</s>', type: CONTROL, score: 0 },
    ...bytes,
    ...words.slice(0, 100).map((word, index) => ({ text: word, type: NORMAL, score: -index })),
  ];
}

function makeTensors(
  next: () => number,
  {
    embedding,
    feedForward,
    blocks,
    words,
  }: { embedding: number; feedForward: number; blocks: number; words: number },
): Tensor[] {
  const matrix = (name: string, columns: number, rows: number): Tensor => {
    const scale = 1.7 / Math.sqrt(columns);
    return {
      name,
      dimensions: [columns, rows],
      data: Float32Array.from({ length: columns * rows }, () => next() * scale),
    };
  };
  const ones = (name: string): Tensor => ({
    name,
    dimensions: [embedding],
    data: new Float32Array(embedding).fill(1),
  });
  const block = (index: number): Tensor[] => {
    const name = (part: string) => `blk.${index}.${part}.weight`;
    return [
      ones(name('attn_norm')),
      ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((part) =>
        matrix(name(part), embedding, embedding),
      ),
      ones(name('ffn_norm')),
      matrix(name('ffn_gate'), embedding, feedForward),
      matrix(name('ffn_up'), embedding, feedForward),
      matrix(name('ffn_down'), feedForward, embedding),
    ];
  };
  const output = matrix('output.weight', embedding, words);
  // The end of the text comes seldom, so that an answer has some length.
  output.data.fill(0, 2 * embedding, 3 * embedding);
  return [
    matrix('token_embd.weight', embedding, words),
    ones('output_norm.weight'),
    output,
    ...Array.from({ length: blocks }, (_, index) => block(index)).flat(),
  ];
}

function assemble(header: readonly Buffer[], tensors: readonly Tensor[]): Buffer {
  let offset = 0;
  const infos = tensors.map(({ name, dimensions, data }) => {
    const info = Buffer.concat([
      string(name),
      u32(dimensions.length),
      ...dimensions.map(u64),
      u32(0),
      u64(offset),
    ]);
    offset = aligned(offset + data.byteLength);
    return info;
  });
  const head = padded(
    Buffer.concat([
      Buffer.from('GGUF'),
      u32(3),
      u64(tensors.length),
      u64(header.length),
      ...header,
      ...infos,
    ]),
  );
  return Buffer.concat([head, ...tensors.map(({ data }) => padded(Buffer.from(data.buffer)))]);
}

const aligned = (size: number) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;
const padded = (bytes: Buffer) =>
  Buffer.concat([bytes, Buffer.alloc(aligned(bytes.length) - bytes.length)]);
const entry = (key: string, type: number, value: Buffer) =>
  Buffer.concat([string(key), u32(type), value]);
const number = (key: string, value: number) => entry(key, U32, u32(value));
const text = (key: string, value: string) => entry(key, STRING, string(value));
const list = (key: string, type: number, values: readonly Buffer[]) =>
  entry(key, ARRAY, Buffer.concat([u32(type), u64(values.length), ...values]));

function string(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

/** Numbers from -1 to 1 that are the same for the same seed (a linear congruential generator, as in Numerical Recipes). */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

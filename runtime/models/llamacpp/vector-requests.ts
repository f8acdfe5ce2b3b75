import { ApiFailure, invalid, type Fields } from './failure.ts';
import type { VectorInput, Vectors } from './vectors.ts';

const MAX_INPUTS = 2048;
const EMBEDDING_FIELDS = new Set(['model', 'input', 'encoding_format', 'user']);
const RANK_FIELDS = new Set(['model', 'query', 'documents', 'top_n', 'return_documents']);

interface Answering {
  readonly vectors: Vectors;
  readonly model: string;
  readonly signal: AbortSignal;
}

/** Answers `/v1/embeddings` of the OpenAI API. */
export async function answerEmbeddings(
  value: unknown,
  { vectors, model, signal }: Answering,
): Promise<object> {
  const fields = asFields(value, EMBEDDING_FIELDS);
  const format = fields['encoding_format'] ?? 'float';
  if (format !== 'float' && format !== 'base64')
    throw invalid('encoding_format', 'must be float or base64');
  const data: object[] = [];
  let tokens = 0;
  for (const [index, input] of readInputs(fields['input']).entries()) {
    const { value: vector, tokens: read } = await vectors.embed(input, signal);
    tokens += read;
    const embedding = format === 'base64' ? toBase64(vector) : vector;
    data.push({ object: 'embedding', index, embedding });
  }
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

/** Answers `/v1/rerank`, which Jina and Cohere have made common. */
export async function answerRerank(
  value: unknown,
  { vectors, model, signal }: Answering,
): Promise<object> {
  const { query, documents } = asFields(value, RANK_FIELDS);
  if (typeof query !== 'string' || query === '') throw invalid('query', 'must be text');
  const texts = readDocuments(documents);
  const { value: scores, tokens } = await vectors.rank(query, texts, signal);
  const results = scores.map((relevance_score, index) => ({ index, relevance_score }));
  return { model, results, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}

function asFields(value: unknown, known: ReadonlySet<string>): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ApiFailure(400, 'The body must be a JSON object');
  const strange = Object.keys(value).find((name) => !known.has(name));
  if (strange !== undefined) throw invalid(strange, 'is not supported by the llamacpp engine');
  return value as Fields;
}

/** A text, a list of texts, tokens, or a list of lists of tokens. */
function readInputs(value: unknown): readonly VectorInput[] {
  if (isInput(value)) return [value];
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MAX_INPUTS;
  if (isList && value.every(isInput)) return value;
  throw invalid('input', `must be text, tokens, or a list of up to ${MAX_INPUTS} of them`);
}

function isInput(value: unknown): value is VectorInput {
  if (typeof value === 'string') return value !== '';
  return Array.isArray(value) && value.length > 0 && value.every((each) => Number.isInteger(each));
}

function readDocuments(value: unknown): readonly string[] {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= MAX_INPUTS;
  const texts = isList
    ? value.map((each: unknown) => (each as { text?: unknown } | null)?.text ?? each)
    : [];
  if (texts.length > 0 && texts.every((text) => typeof text === 'string'))
    return texts as readonly string[];
  throw invalid('documents', `must be a list of 1 to ${MAX_INPUTS} texts`);
}

/** The numbers as 32-bit floats, least byte first. */
function toBase64(vector: readonly number[]): string {
  const bytes = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, index) => bytes.setFloat32(index * 4, value, true));
  return Buffer.from(bytes.buffer).toString('base64');
}

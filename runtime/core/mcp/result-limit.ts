import { failed, type ToolAnswer } from '@twofold/schema/mcp';
import { hasMoreBytes, type JsonText } from '../store/large-text.ts';

/** Texts for a result that is too large. */
export interface TooLarge {
  /** The result, as the subject of a sentence. */
  readonly what: string;
  /** How to ask for less. */
  readonly advice: string;
}

/**
 * Refuses a result that is larger than `api.mcp.result`, with an error in the form of `/graphql`.
 *
 * @returns undefined when the result is small enough.
 */
export function tooLarge(
  text: JsonText,
  limit: number,
  { what, advice }: TooLarge,
): ToolAnswer | undefined {
  if (!hasMoreBytes(text, limit)) return undefined;
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.bytes;
  const message = `${what} has ${bytes} bytes, and a tool answers at most ${limit}: ${advice}`;
  const error = { message, extensions: { code: 'RESULT_TOO_LARGE', value: bytes, limit } };
  return failed(JSON.stringify({ errors: [error] }));
}

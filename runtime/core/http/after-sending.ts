import type { ServerResponse } from 'node:http';
import type { AnswerMemory } from '../store/answer-memory.ts';
import type { Asker } from '../store/bounds.ts';

/**
 * Frees the memory that is reserved for an answer when it has been sent or the client has
 * disconnected: its text is in memory until then.
 */
export function afterSending(memory: AnswerMemory, asker: Asker, response: ServerResponse): void {
  if (memory.held === 0) return;
  if (response.writableFinished || response.destroyed) return memory.end(asker);
  response.once('close', () => memory.end(asker));
}

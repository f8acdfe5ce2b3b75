import type { ServerResponse } from 'node:http';
import type { AnswerMemory } from '../store/answer-memory.ts';
import type { Asker } from '../store/bounds.ts';

/** Lets go of what is kept for the answer when the client has it, or is gone: until then its text is in memory. */
export function afterSending(memory: AnswerMemory, asker: Asker, response: ServerResponse): void {
  if (memory.held === 0) return;
  if (response.writableFinished || response.destroyed) return memory.end(asker);
  response.once('close', () => memory.end(asker));
}

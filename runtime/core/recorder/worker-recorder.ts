import { type FromRecords, type Question, type ToRecords, isMarked, marked } from './relay.ts';
import { counted, createLook, type Recorder } from './recorder.ts';
import type { Sampler } from './sampler.ts';

/** Milliseconds for which lines are collected before they are sent. */
const COLLECTED = 50;
/** When this many lines have been collected, they are sent at once. */
const MANY = 500;
/** Milliseconds after which an answer is not waited for any more. */
const ANSWER_WITHIN = 5000;

/** The recorder of one of several workers: what it notes is kept by the process that started it. */
export function createWorkerRecorder(sampler: Sampler): Recorder {
  const send = (message: ToRecords) => void (process.connected && process.send?.(marked(message)));
  const { ask, receive } = createQuestions(send);
  const lines = createOutbox((collected) => send({ step: 'lines', lines: collected }));
  const look = createLook(sampler, (sample) => send({ step: 'sample', sample }));
  let following = 0;
  const change = (by: number) => send({ step: 'followers', count: (following += by) });
  process.on('message', receive);
  process.on('exit', lines.flush);
  return {
    metrics: sampler.metrics,
    note: lines.add,
    page: async (query) => (lines.flush(), ask({ of: 'page', with: query })),
    batch: async (query) => (lines.flush(), ask({ of: 'batch', with: query })),
    figures: async (range) => (look.now(), ask({ of: 'figures', with: range })),
    follow: () => counted(change),
    followers: () => ask({ of: 'followers' }),
    start: look.start,
    stop: () => {
      look.stop();
      lines.flush();
      process.off('message', receive);
    },
  };
}

/** Questions whose answers come as messages. */
function createQuestions(send: (message: ToRecords) => void) {
  const asked = new Map<number, (answer: unknown) => void>();
  let next = 0;
  const ask = <Answer>(question: Question): Promise<Answer> => {
    const id = (next += 1);
    return new Promise<Answer>((resolve, reject) => {
      const late = setTimeout(() => {
        asked.delete(id);
        reject(new Error('the process that started this worker does not answer'));
      }, ANSWER_WITHIN);
      asked.set(id, (answer) => {
        clearTimeout(late);
        asked.delete(id);
        resolve(answer as Answer);
      });
      send({ step: 'ask', id, question });
    });
  };
  const receive = (message: unknown) => {
    if (!isMarked(message)) return;
    const { id, answer } = message as unknown as FromRecords;
    asked.get(id)?.(answer);
  };
  return { ask, receive };
}

/**
 * Collects lines, so that many of them are one message. Severe ones are sent at once: the process
 * may end.
 */
function createOutbox(sendAll: (lines: readonly string[]) => void) {
  let collected: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (collected.length === 0) return;
    const lines = collected;
    collected = [];
    sendAll(lines);
  };
  const add = (line: string) => {
    collected.push(line);
    if (collected.length >= MANY || SEVERE.test(line)) flush();
    else timer ??= setTimeout(flush, COLLECTED).unref();
  };
  return { add, flush };
}

const SEVERE = /^\{"level":[56]/;

import { AppError } from '../errors.ts';

/** For whom a statement runs: it is ended when they wait no longer. */
export interface Asker {
  readonly cancelled: boolean;
}

/** What the answers of one server may take. Sizes are bytes, `time` is milliseconds. */
export interface AnswerLimits {
  readonly time: number;
  readonly result: number;
  readonly memory: number;
}

/** Who waits for a statement, and what its answer may take. */
export interface Bounds {
  readonly asker: Asker;
  readonly limits: AnswerLimits;
  /** Whether the answer is the server's to send: then it counts as held until `AnswerMemory.end`. */
  readonly sent: boolean;
}

/** Who waits for a transaction. */
export interface TransactionBounds extends Bounds {
  /** Whether a statement of it may take long, see `ReadStatement`. */
  readonly long?: boolean;
}

/** A statement that only reads. */
export interface ReadStatement {
  readonly text: string;
  /** Whether it may look at more rows than a page has: then it is run where it holds up no other request. */
  readonly long?: boolean;
}

/** SQLite calls it in the loops of long statements. A throw in there ends the statement within a row. */
export const STEP = 'twofold_step';

/** An answer met one of its limits: it is refused as a whole. */
export class LimitReached extends AppError {}

/** The answer would have more bytes than `api.limits.result`. */
export function resultTooLarge({ result }: AnswerLimits, bytes = result + 1): AppError {
  return new LimitReached(400, 'RESULT_TOO_LARGE', `the result has more than ${result} bytes`, {
    extensions: { value: bytes, limit: result },
  });
}

/** The statement ran into `api.limits.time`. */
export function outOfTime({ time }: AnswerLimits): AppError {
  return new LimitReached(400, 'TIMEOUT', `the operation took longer than ${time} ms`, {
    extensions: { value: time, limit: time },
  });
}

/** Of a statement that was ended because its asker is gone: there is no one to read the message. */
export function unwanted(): Error {
  return Object.assign(new Error('the statement was ended: its caller waits no longer'), {
    severity: 'ERROR',
  });
}

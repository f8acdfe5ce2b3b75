import type { RequestContext } from '../context/request-context.ts';
import type { ContextParts } from '../own-context/context-parts.ts';
import { systemContext } from '../own-context/system-context.ts';

/** A call of a function of the project, for a limited time. */
export interface Call {
  readonly ctx: RequestContext;
  /** Resolves when the function has ended. @throws CallAbandoned, or what the function threw */
  run(work: () => unknown): Promise<void>;
  /** Aborts the signal. */
  cancel(): void;
  /** Aborts the signal, and lets `run` reject at once. */
  leave(): void;
}

/**
 * Thrown when the process stops or has lost the job, so that nobody waits for the function any
 * more.
 */
export class CallAbandoned extends Error {}

/** @param timeout milliseconds, after which `run` rejects and the signal is aborted. */
export function createCall(parts: ContextParts, timeout: number): Call {
  const ctx = systemContext(parts);
  const left = Promise.withResolvers<never>();
  left.promise.catch(() => {});
  const abort = (name: string, text: string) => ctx.cancel(new DOMException(text, name));
  return {
    ctx,
    run: async (work) => {
      const late = setTimeout(() => {
        const text = `it took longer than ${timeout} ms`;
        left.reject(new Error(text));
        abort('TimeoutError', text);
      }, timeout);
      try {
        await Promise.race([new Promise((resolve) => resolve(work())), left.promise]);
      } finally {
        clearTimeout(late);
      }
    },
    cancel: () => abort('AbortError', 'the job was cancelled'),
    leave: () => {
      left.reject(new CallAbandoned());
      abort('AbortError', 'the server stops, or another one has the job');
    },
  };
}

import { randomUUID } from 'node:crypto';
import type { Logger } from '../config/log.ts';
import { BaseContext } from './base-context.ts';
import { Cancellation } from '../context/cancellation.ts';
import type { ContextParts } from './context-parts.ts';
import { DerivedContext } from './derived-context.ts';
import type { Principal, RequestContext } from '../context/request-context.ts';
import { createValues } from '../context/values.ts';

/**
 * The context of code that no request calls: jobs, listeners, scripts. No rules apply to it.
 *
 * @param signal aborts the context's own.
 */
export const systemContext = (parts: ContextParts, signal?: AbortSignal): RequestContext =>
  new SystemContext(parts, signal);

/**
 * The context of code that runs for a request and not for its caller, such as a hook of a sign-in.
 * No rules apply to it.
 */
export const asSystem = (parts: ContextParts, context: RequestContext): RequestContext =>
  new DerivedContext(parts, context, { principal: { kind: 'system' }, sameRequest: true });

class SystemContext extends BaseContext {
  readonly id = randomUUID();
  readonly ip = '';
  readonly headers = {};
  readonly values = createValues();
  readonly log: Logger;
  principal: Principal = { kind: 'system' };
  protected readonly parts: ContextParts;
  readonly #cancellation: Cancellation;

  constructor(parts: ContextParts, signal?: AbortSignal) {
    super();
    this.parts = parts;
    this.log = parts.log.child({ requestId: this.id });
    this.#cancellation = new Cancellation(signal && cancellableBy(signal));
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  get cancelled(): boolean {
    return this.#cancellation.cancelled;
  }

  cancel(reason?: DOMException): void {
    this.#cancellation.cancel(reason);
  }

  protected withPrincipal(principal: Principal): RequestContext {
    return new DerivedContext(this.parts, this, { principal, sameRequest: true });
  }
}

const cancellableBy = (signal: AbortSignal) => ({
  signal,
  get cancelled() {
    return signal.aborted;
  },
});

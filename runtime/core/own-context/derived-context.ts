import type { Logger } from '../config/log.ts';
import { BaseContext } from './base-context.ts';
import { type Cancellable, Cancellation } from '../context/cancellation.ts';
import type { ContextParts } from './context-parts.ts';
import { isPartOf } from '../context/context-family.ts';
import type { Principal, RequestContext } from '../context/request-context.ts';
import type { Values } from '../context/values.ts';

export interface Deriving {
  readonly principal: Principal;
  /** When this is cancelled, the new context is too. Without it the parent takes this role. */
  readonly within?: Cancellable;
  /**
   * Whether the new context belongs to the request of its parent. If so, a write through one of
   * them clears the loaders of both.
   */
  readonly sameRequest: boolean;
}

/** A context that differs from its parent in the caller, in the loaders, or in both. */
export class DerivedContext extends BaseContext {
  principal: Principal;
  protected readonly parts: ContextParts;
  readonly #parent: RequestContext;
  readonly #cancellation: Cancellation;

  constructor(parts: ContextParts, parent: RequestContext, deriving: Deriving) {
    super();
    this.parts = parts;
    this.#parent = parent;
    this.principal = deriving.principal;
    this.#cancellation = new Cancellation(deriving.within ?? parent);
    if (deriving.sameRequest) isPartOf(this, parent);
  }

  get id(): string {
    return this.#parent.id;
  }

  get ip(): string {
    return this.#parent.ip;
  }

  get headers(): RequestContext['headers'] {
    return this.#parent.headers;
  }

  get values(): Values {
    return this.#parent.values;
  }

  get log(): Logger {
    return this.#parent.log;
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

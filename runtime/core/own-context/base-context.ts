import type { Kysely } from 'kysely';
import { isDuration, duration } from '../model/units.ts';
import type { Logger } from '../config/log.ts';
import { failure, InternalError } from '../errors.ts';
import { logTimeout, ownTransaction } from '../store/own-transaction.ts';
import type { TransactionOptions } from '../store/store.ts';
import type { ContextParts } from './context-parts.ts';
import type {
  CurrentUser,
  OwnTransactionOptions,
  Principal,
  RequestContext,
} from '../context/request-context.ts';
import { findService, serviceOf } from './services.ts';
import { unrestricted } from '../context/unrestricted.ts';
import type { Values } from '../context/values.ts';

/** What all contexts can do. A member that a request does not use costs it nothing. */
export abstract class BaseContext implements RequestContext {
  abstract readonly id: string;
  abstract readonly ip: string;
  abstract readonly headers: RequestContext['headers'];
  abstract readonly values: Values;
  abstract readonly log: Logger;
  abstract readonly signal: AbortSignal;
  abstract readonly cancelled: boolean;
  abstract principal: Principal;
  protected abstract readonly parts: ContextParts;
  #loaders: unknown;
  #auth: unknown;
  #data: { readonly principal: Principal; readonly api: unknown } | undefined;
  #db: Kysely<any> | undefined;

  abstract cancel(reason?: DOMException): void;

  get attempt(): number {
    return this.parts.store.scope()?.attempt ?? 1;
  }

  get user(): CurrentUser | null {
    const { principal } = this;
    return principal.kind === 'user' ? { ...principal, id: String(principal.id) } : null;
  }

  get loaders(): unknown {
    return (this.#loaders ??= findService(this.parts.store, 'loaders')?.(this));
  }

  get data(): unknown {
    // Middleware may use it before the caller is known.
    if (this.#data?.principal !== this.principal)
      this.#data = {
        principal: this.principal,
        api: serviceOf(this.parts.store, 'data')(this),
      };
    return this.#data.api;
  }

  get db(): Kysely<any> {
    const { store } = this.parts;
    return (this.#db ??= findService(store, 'db')?.(this) ?? store.db);
  }

  get auth(): unknown {
    return (this.#auth ??= serviceOf(this.parts.store, 'auth')(this));
  }

  get jobs(): unknown {
    return serviceOf(this.parts.store, 'jobs')();
  }

  graphql(document: string, variables: Readonly<Record<string, unknown>> = {}): Promise<any> {
    return serviceOf(this.parts.store, 'graphql')(this, document, variables);
  }

  sudo(): RequestContext {
    return this.withPrincipal(unrestricted(this.principal));
  }

  async as(userId: number | string): Promise<RequestContext> {
    const principal = await serviceOf(this.parts.store, 'principalOf')(userId);
    if (!principal) throw failure.unauthenticated();
    return this.withPrincipal(principal);
  }

  transaction<T>(work: () => Promise<T>, options: OwnTransactionOptions = {}): Promise<T> {
    return this.parts.store
      .transaction(
        () => work(),
        ownTransaction(this.parts.store, { ...ownOptions(options), context: this, once: 3 }),
      )
      .catch((error: unknown) => logTimeout(error, this.log));
  }

  afterCommit(work: () => unknown): void {
    const failed = (error: unknown) =>
      this.log.error({ stack: stackOf(error) }, 'work after a commit failed');
    this.parts.store.afterCommit(() => {
      new Promise((resolve) => resolve(work())).catch(failed);
    });
  }

  lock<T>(name: string, work: () => Promise<T>): Promise<T> {
    return this.parts.store.lock(name, work, Infinity);
  }

  publish(field: string, payload: unknown, args: Readonly<Record<string, unknown>> = {}): void {
    serviceOf(this.parts.store, 'publish')(field, payload, args);
  }

  protected abstract withPrincipal(principal: Principal): RequestContext;
}

/** The options of a transaction of the project's own code. */
export const ownOptions = ({
  timeout,
  ...options
}: OwnTransactionOptions): Pick<TransactionOptions, 'isolation' | 'retries' | 'timeout'> => ({
  ...options,
  ...(timeout !== undefined && { timeout: milliseconds(timeout) }),
});

function milliseconds(timeout: string | number): number {
  if (typeof timeout === 'number') return timeout;
  if (isDuration(timeout)) return duration(timeout);
  throw new InternalError(`the timeout of a transaction is ${timeout}: write it as 10s or 500ms`);
}

const stackOf = (error: unknown) => (error instanceof Error ? error.stack : String(error));

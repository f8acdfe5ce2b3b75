import type { Logger } from '../config/log.ts';
import { type Values, valuesAsNow } from '../context/values.ts';
import { AppError } from '../errors.ts';
import type { OwnTransactions, Store, TransactionOptions } from './store.ts';

/** The settings of a store, with the defaults of the manifest. */
export const ownTransactions = ({
  timeout = 10_000,
  isolation = 'serializable',
  warns = false,
}: OwnSettings = {}): OwnTransactions => ({ timeout, isolation, warns });

export type OwnSettings = {
  readonly [Name in keyof OwnTransactions]?: OwnTransactions[Name] | undefined;
};

/** What runs in the transaction, and for whom. */
interface OwnWork extends TransactionOptions {
  readonly context: { readonly log: Logger; readonly values: Values } | undefined;
  /**
   * How often it runs again where the project has chosen `read committed`, as in releases that had
   * nothing else.
   */
  readonly once: number;
}

/** How a transaction is opened in which code of the project runs. */
export function ownTransaction(
  { own }: Pick<Store, 'own'>,
  { context, once, ...options }: OwnWork,
): TransactionOptions {
  const { isolation, timeout } = own;
  const restored = context && valuesAsNow(context.values);
  return {
    timeout,
    retries: isolation === 'read committed' ? once : Infinity,
    usual: isolation,
    ...options,
    again: (attempt) => {
      restored?.();
      if (context) tell(own, context.log, `${options.opened ?? 'ctx.transaction'}: ${attempt}`);
    },
  };
}

const TOLD = new WeakSet<OwnTransactions>();

function tell(own: OwnTransactions, log: Logger, attempt: string): void {
  const again = `another transaction was in the way, so this one runs again (attempt of ${attempt})`;
  if (!own.warns || TOLD.has(own)) return log.debug(again);
  TOLD.add(own);
  log.warn(
    `${again}. What is in a transaction happens once, its function may run more often: call others in ctx.afterCommit or in a job, or write retries: 0`,
  );
}

/** The log says where a transaction was opened that took too long. */
export function logTimeout(error: unknown, log: Logger | undefined): never {
  if (error instanceof AppError && error.code === 'TIMEOUT' && error.cause instanceof Error)
    log?.warn({ stack: error.cause.stack }, error.message);
  throw error;
}

import type { Kysely } from 'kysely';
import { InternalError } from '../errors.ts';
import type { Explain } from '../context/explained.ts';
import type { Store } from '../store/store.ts';
import type { Principal, RequestContext } from '../context/request-context.ts';

/** The parts that modules add to the context of a request. */
export interface ContextServices {
  loaders(context: RequestContext): unknown;
  data(context: RequestContext): unknown;
  db(context: RequestContext): Kysely<any>;
  graphql(
    context: RequestContext,
    document: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<any>;
  publish(field: string, payload: unknown, args: Readonly<Record<string, unknown>>): void;
  /** `ctx.jobs` */
  jobs(): unknown;
  /** `ctx.auth` */
  auth(context: RequestContext): unknown;
  /** The statements of an operation, none of which is run. */
  explain: Explain;
  /** The principal of a user; null when there is none who may sign in. */
  principalOf(userId: number | string): Promise<Principal | null>;
}

const SERVICES = new WeakMap<Store, Partial<ContextServices>>();

/** A module adds its services when it is made. */
export function addServices(store: Store, services: Partial<ContextServices>): void {
  SERVICES.set(store, { ...SERVICES.get(store), ...services });
}

/** @throws InternalError when no module has added the service. */
export function serviceOf<Name extends keyof ContextServices>(
  store: Store,
  name: Name,
): ContextServices[Name] {
  const service = SERVICES.get(store)?.[name];
  if (!service) throw new InternalError(`ctx.${name} is not there: no module of the server has it`);
  return service as ContextServices[Name];
}

export const findService = <Name extends keyof ContextServices>(store: Store, name: Name) =>
  SERVICES.get(store)?.[name];

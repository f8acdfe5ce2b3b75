import type { Tracing, OpenSpan } from '../traces/tracing.ts';
import { rootCause } from './errors.ts';
import type { Response } from './response.ts';
import type { OperationCall } from './service.ts';
import type { Surroundings } from './surroundings.ts';
import type { EntityHook, EntityHookOf, EntityHooks } from '../context/entity-hooks.ts';
import type { Resolver, Resolvers } from '../plugin.ts';

/** The most errors of one answer that its span carries. */
const MOST = 5;

/** Opens a span for each operation, and for each event of a subscription. */
export function operationTraces(tracing: Tracing): Surroundings {
  const within = <T extends Response | undefined>(
    call: OperationCall,
    run: () => T | Promise<T>,
  ) => {
    const { name, options } = describe(call);
    return tracing.span(name, options, (span) => {
      const response = run();
      if (!span.recording) return response;
      if (!(response instanceof Promise)) return noted(span, response);
      return response.then((late) => noted(span, late));
    });
  };
  return {
    around: (call, run) => within(call, run),
    accompany: async (call) => ({ event: async (answer) => within(call, answer) }),
  };
}

function describe({ operation: { node } }: OperationCall) {
  const { operation: type } = node;
  const name = node.name?.value;
  return {
    name: name === undefined ? type : `${type} ${name}`,
    options: {
      kind: 'internal',
      attributes: {
        'graphql.operation.type': type,
        ...(name !== undefined && { 'graphql.operation.name': name }),
      },
    },
  } as const;
}

function noted<T extends Response | undefined>(span: OpenSpan, response: T): T {
  for (const { formatted, error } of response?.failed?.errors.slice(0, MOST) ?? []) {
    const code = formatted.extensions?.['code'];
    if (code === 'INTERNAL_SERVER_ERROR') span.failMasked(rootCause(error));
    else span.fail(String(code));
  }
  return response;
}

type HooksByEntity = Readonly<Record<string, EntityHooks>>;

/** The lifecycle hooks of a project and its plugins, each in a span where there are traces. */
export const hooksOf = (
  parts: readonly { readonly entityHooks?: HooksByEntity }[],
  tracing: Tracing | undefined,
): HooksByEntity[] =>
  parts.flatMap(({ entityHooks }) =>
    entityHooks ? [tracing ? traceHooks(tracing, entityHooks) : entityHooks] : [],
  );

/** The span of a hook has its name: `Article.resolveInput`. */
const traceHooks = (tracing: Tracing, hooks: HooksByEntity): HooksByEntity =>
  Object.fromEntries(
    Object.entries(hooks).map(([entity, each]) => [
      entity,
      Object.fromEntries(
        Object.entries(each).map(([name, hook]) => [
          name,
          traceHook(tracing, `${entity}.${name}`, hook as EntityHookOf),
        ]),
      ),
    ]),
  );

function traceHook(tracing: Tracing, name: string, hook: EntityHookOf): EntityHookOf {
  const options = { kind: 'internal', attributes: { 'code.function.name': name } } as const;
  const traced =
    (own: EntityHook): EntityHook =>
    (call) =>
      tracing.span(name, options, () => own(call));
  if (typeof hook === 'function') return traced(hook);
  return Object.fromEntries(
    Object.entries(hook).map(([operation, own]) => [operation, traced(own as EntityHook)]),
  );
}

/** The functions of the project, each in a span with its coordinate: `Query.search`. */
export function traceResolvers(tracing: Tracing, resolvers: Resolvers): Resolvers {
  return mapValues(resolvers, (fields, type) =>
    mapValues(fields, (resolver, field) =>
      // Functions such as `__resolveType` are not traced, because they answer no field.
      field.startsWith('__') ? resolver : traceResolver(tracing, `${type}.${field}`, resolver),
    ),
  );
}

type AnyResolver = Resolvers[string][string];

function traceResolver(tracing: Tracing, name: string, resolver: AnyResolver): AnyResolver {
  const options = { kind: 'internal', attributes: { 'code.function.name': name } } as const;
  const traced =
    (own: Resolver): Resolver =>
    (...args) =>
      tracing.span(name, options, () => own(...args));
  if (typeof resolver === 'function') return traced(resolver);
  if ('transaction' in resolver) return { ...resolver, resolve: traced(resolver.resolve) };
  const { subscribe, resolve } = resolver;
  return {
    ...resolver,
    subscribe: traced(subscribe),
    ...(resolve && { resolve: traced(resolve) }),
  };
}

const mapValues = <From, To>(
  all: Readonly<Record<string, From>>,
  map: (value: From, key: string) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(all).map(([key, value]) => [key, map(value, key)]));

import type { Tracing } from '../traces/tracing.ts';
import type { Resolver, Resolvers } from '../plugin.ts';

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

import type { EntityHook, EntityHookOf, EntityHooks } from '../context/entity-hooks.ts';
import type { Tracing } from '../traces/tracing.ts';

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

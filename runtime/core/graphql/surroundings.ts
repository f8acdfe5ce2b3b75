import type { ServiceHooks } from './hooks/index.ts';
import type { Companion, Service } from './service.ts';

/** The functions around operations. Metrics and traces are outside, the hooks of plugins inside. */
export type Surroundings = Pick<Service, 'around' | 'leave' | 'accompany'>;

/** Joins observers and hooks. A member that neither has is absent. */
export function surround(
  hooks: ServiceHooks,
  observers: readonly Surroundings[] = [],
): Surroundings {
  const observer = observers.reduce(joinObservers, {});
  const around = outside(observer.around, hooks.around);
  const leave =
    hooks.leave && observer.leave
      ? joinedLeave(hooks.leave, observer.leave)
      : (hooks.leave ?? observer.leave);
  const accompany = joinedAccompany(hooks, observer, leave);
  return { ...(around && { around }), ...(leave && { leave }), ...(accompany && { accompany }) };
}

/** Joins two sets of functions: `outer` calls `inner`. At most one of them has `leave`. */
function joinObservers(outer: Surroundings, inner: Surroundings): Surroundings {
  const around = outside(outer.around, inner.around);
  const leave = outer.leave ?? inner.leave;
  const accompany = joinedAccompany(inner, outer, undefined);
  return { ...(around && { around }), ...(leave && { leave }), ...(accompany && { accompany }) };
}

type Around = Service['around'];
type Leave = NonNullable<Service['leave']>;

function outside(outer: Around, inner: Around): Around {
  if (!outer || !inner) return outer ?? inner;
  return (call, run) => outer(call, () => inner(call, run));
}

const joinedLeave =
  (first: Leave, then: Leave): Leave =>
  async (response, context) =>
    then(await first(response, context), context);

function joinedAccompany(
  hooks: { readonly accompany?: Service['accompany'] | undefined },
  observer: Surroundings,
  leave: Leave | undefined,
): Service['accompany'] {
  if (!hooks.accompany && !observer.accompany && !leave) return undefined;
  return async (call, transport) => {
    const observed = await observer.accompany?.(call, transport);
    const hooked = await hooks.accompany?.(call, transport);
    return {
      event: throughEvent(observed, throughEvent(hooked, undefined, leave)),
      end: () => {
        hooked?.end?.();
        observed?.end?.();
      },
    };
  };
}

type OnEvent = Companion['event'];

/** An event that `companion` looks at after `inner`, and that then leaves. */
function throughEvent(
  companion: Companion | undefined,
  inner: OnEvent = (answer) => answer(),
  leave?: Leave,
): OnEvent {
  const looked: OnEvent = companion
    ? (answer, context) => companion.event(() => inner(answer, context), context)
    : inner;
  if (!leave) return looked;
  return async (answer, context) => {
    const response = await looked(answer, context);
    return response && leave(response, context);
  };
}

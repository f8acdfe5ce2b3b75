import { compareVersions } from './releases.ts';
import { isData, type Data, type Shape } from './manifest/shape.ts';

/** A setting of the manifest whose default another release has changed. */
export interface ChangedDefault {
  /** The first release with the new value: `0.2`. */
  readonly release: string;
  /** The keys of the manifest: `['api', 'limits', 'cost']`. */
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
  /** Why the new value is better, as a sentence. */
  readonly reason: string;
}

/** The release whose defaults a manifest without `defaults:` has: the first one. */
const FIRST_DEFAULTS = '0.1';

/** Every default that a release has changed, in the order of the releases. */
const changedDefaults: readonly ChangedDefault[] = [
  {
    release: FIRST_DEFAULTS,
    path: ['database', 'isolation'],
    before: 'read committed',
    after: 'serializable',
    reason: 'Two functions that read and then write end as if one had run after the other.',
  },
];

/**
 * The values of a manifest, with the earlier value of each default that changed after the release
 * that `defaults:` names. Values in the manifest stay as they are, and no section is turned on.
 *
 * @param shape the JSON Schema of the manifest.
 * @example withPinnedDefaults({ defaults: '0.1', name: 'shop' }, manifestSchema)
 */
export function withPinnedDefaults(
  data: Data,
  shape: Shape,
  changes: readonly ChangedDefault[] = changedDefaults,
): Data {
  return newDefaultsOf(data, changes).reduce(
    (filled, { path, before }) => filledAt(filled, path, { shape, value: before }) as Data,
    data,
  );
}

/** Defaults that changed after the release that the manifest names: what an upgrade offers. */
export function newDefaultsOf(
  { defaults }: Data,
  changes: readonly ChangedDefault[] = changedDefaults,
): readonly ChangedDefault[] {
  const pinned = typeof defaults === 'string' ? defaults : FIRST_DEFAULTS;
  return changes.filter(({ release }) => compareVersions(release, pinned) > 0);
}

interface Filling {
  readonly shape: Shape;
  readonly value: unknown;
}

/** An object that is absent is only made where its own default is one too. */
function filledAt(
  data: unknown,
  [key, ...rest]: readonly string[],
  { shape, value }: Filling,
): unknown {
  if (key === undefined) return data === undefined ? value : data;
  if (data === undefined && !isData(shape.default)) return data;
  if (data !== undefined && data !== null && !isData(data)) return data;
  const inner = shape.properties?.[key] ?? {};
  const before = data ?? {};
  const filled = filledAt((before as Data)[key], rest, { shape: inner, value });
  return filled === undefined ? data : { ...(before as Data), [key]: filled };
}

import { AppError, failure } from '@twofold/runtime/errors';
import { createSemaphore } from '@twofold/runtime/kernel';
import type { Core } from '../host/core.ts';
import type { Lifecycle } from '../deploy/lifecycle.ts';
import { createLoop } from '../host/loop.ts';
import type { HostedApp } from '../records/app.ts';
import { newSpec } from '../records/fields.ts';
import { assertAppName } from '../records/names.ts';
import { inheritedSpec, inheritedValues, lifetimeOf, previewName } from '../records/previews.ts';
import type { PreviewOf } from '../records/preview-rules.ts';

/** What a preview shows. */
export interface PreviewRequest {
  readonly key: string;
  readonly ref: string | null;
  /** The image that it is deployed from, if it is not built. */
  readonly image?: string;
  /** How long it lasts, such as `24h`. */
  readonly expiresIn?: string | undefined;
  /** When the pull request was changed: an earlier change does not replace a later one. */
  readonly seen?: number;
  /** Whether the change comes from another repository. */
  readonly fork?: boolean;
}

/** Apps that each show a change of another app for some time. */
export interface Previews {
  of(app: HostedApp): readonly HostedApp[];
  find(app: HostedApp, key: string): HostedApp | undefined;
  /**
   * Makes the app of a preview, or gives the existing one the app's present configuration. Above the
   * limit, the oldest preview of the app is removed soon.
   *
   * @returns null when a later change was seen already.
   * @throws AppError 409 when its name belongs to another app.
   */
  prepare(app: HostedApp, request: PreviewRequest): Promise<HostedApp | null>;
  remove(preview: HostedApp): Promise<void>;
  /** Removes a preview in the background, over restarts of the server too. */
  expire(preview: HostedApp): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds between two looks for previews that have expired. */
const LOOK_INTERVAL = 5000;

export function createPreviews(core: Core, lifecycle: Lifecycle): Previews {
  // Two webhooks at the same moment must not make one preview twice, or exceed the limit.
  const oneAtATime = createSemaphore(1);
  const remove = createRemoval(lifecycle);
  const of = ({ id }: HostedApp) =>
    core.apps.all().filter(({ spec }) => spec.preview?.app_id === id);
  const expire = async (preview: HostedApp) => {
    await setExpiry(core, preview, core.now());
    void sweep();
  };
  const sweep = createSweep(core, remove);
  let unlisten = () => {};
  const loop = createLoop({
    pause: () => LOOK_INTERVAL,
    work: sweep,
    onError: (error) => core.log.warn(`previews: ${error.message}`),
  });
  const find = (app: HostedApp, key: string) =>
    of(app).find(({ name }) => name === previewName(app.name, key));
  return {
    of,
    remove,
    expire,
    find,
    prepare: (app, request) =>
      oneAtATime.run(async () => {
        // One that has expired is perhaps being removed now: a new app takes its place.
        const known = find(app, request.key);
        if (known && isOver(core, known)) await remove(known);
        const preview = await prepare(core, app, request);
        if (preview)
          for (const old of tooMany(of(app), preview, core.model.previews.limit)) await expire(old);
        return preview;
      }),
    async start() {
      loop.start();
      unlisten = core.events.listen(({ type }) => void (type === 'removed' && sweep()));
    },
    async stop() {
      unlisten();
      await loop.stop();
      await sweep.ended();
    },
  };
}

async function prepare(
  core: Core,
  app: HostedApp,
  request: PreviewRequest,
): Promise<HostedApp | null> {
  if (app.spec.preview)
    throw failure.conflict(`${app.name} is a preview itself: make one of ${app.spec.preview.of}`);
  const name = previewName(app.name, request.key);
  const known = core.apps.all().find((each) => each.name === name);
  if (known && known.spec.preview?.app_id !== app.id)
    throw failure.conflict(`App ${name} is not a preview of ${app.name}`);
  if (known && isLater(known.spec.preview, request)) return null;
  const preview = describe(core, app, request);
  const values = inheritedValues(app);
  const taken = inheritedSpec(app.spec, { fork: request.fork === true });
  if (known) {
    // A preview by hand may have the network of the project, which one of a fork must not keep.
    const spec = { ...known.spec, project: null, networks: [], ...taken, preview };
    return core.apps.update(known.id, { spec, ...values });
  }
  assertAppName(name);
  const { image } = request;
  const own = newSpec(name, image === undefined ? {} : { image }, core.model);
  return core.apps.insert({ name, spec: { ...own, ...taken, preview }, ...values });
}

const isLater = (known: PreviewOf | undefined, { seen = 0 }: PreviewRequest) =>
  seen > 0 && (known?.seen ?? 0) > seen;

function describe(
  { now, model }: Core,
  app: HostedApp,
  { key, ref, expiresIn, seen }: PreviewRequest,
): PreviewOf {
  const lasts = lifetimeOf(app, expiresIn, model.previews.expire);
  const expires_at = new Date(now() + lasts).toISOString();
  return { of: app.name, app_id: app.id, key, ref, expires_at, ...(seen && { seen }) };
}

/** The oldest previews above the limit, other than the newest one. */
function tooMany(
  all: readonly HostedApp[],
  newest: HostedApp,
  limit: number,
): readonly HostedApp[] {
  const others = all
    .filter(({ id }) => id !== newest.id)
    .toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  return others.slice(0, Math.max(0, others.length + 1 - limit));
}

async function setExpiry({ apps }: Core, { id }: HostedApp, at: number): Promise<void> {
  const app = apps.byId(id);
  if (!app?.spec.preview) return;
  const preview = { ...app.spec.preview, expires_at: new Date(at).toISOString() };
  await apps.update(id, { spec: { ...app.spec, preview } });
}

/** Removes each preview once, however many callers want that at the same time. */
function createRemoval(lifecycle: Lifecycle): (preview: HostedApp) => Promise<void> {
  const running = new Map<string, Promise<void>>();
  return (preview) => {
    const begun = running.get(preview.id);
    if (begun) return begun;
    const removal = lifecycle
      .remove(preview, { volumes: true })
      .finally(() => running.delete(preview.id));
    running.set(preview.id, removal);
    return removal;
  };
}

const isOver = ({ apps, now }: Core, { spec: { preview } }: HostedApp): boolean =>
  preview !== undefined && (Date.parse(preview.expires_at) <= now() || !apps.byId(preview.app_id));

/**
 * Removes the previews that have expired and those of apps that are gone. One that cannot be removed
 * now is tried again at the next look.
 */
function createSweep(core: Core, remove: (preview: HostedApp) => Promise<void>) {
  let running: Promise<void> = Promise.resolve();
  // A preview that cannot be removed is reported once, and not at each look.
  const reported = new Set<string>();
  const look = async () => {
    if (core.connection.info() === null) return;
    for (const preview of core.apps.all().filter((app) => isOver(core, app))) {
      try {
        await remove(preview);
        core.log.info(`${preview.name} is removed: it has expired, or its app is gone`);
      } catch (error) {
        const why = error instanceof AppError ? error.message : String(error);
        if (!reported.has(preview.id))
          core.log.warn(`${preview.name} has expired and cannot be removed yet: ${why}`);
        reported.add(preview.id);
      }
    }
  };
  const sweep = () => (running = running.then(look));
  return Object.assign(sweep, { ended: () => running });
}

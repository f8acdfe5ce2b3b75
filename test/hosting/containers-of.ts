import { engineJson } from '../engines/call-engine.ts';
import type { TestServer } from './server.ts';

/** A container, as an engine lists it. */
export interface ListedContainer {
  readonly Id: string;
  readonly State: string;
  readonly Labels: Readonly<Record<string, string>>;
  readonly NetworkSettings: {
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>>;
  };
}

type Instance = Pick<TestServer, 'kernel' | 'folder'>;

/** Of the server of a folder. It is asked again after the server has stopped. */
const instances = new Map<string, string>();

async function instanceOf({ kernel, folder }: Instance): Promise<string> {
  const known = instances.get(folder);
  if (known) return known;
  const { value } = await kernel.store.db
    .selectFrom('hosting_settings')
    .select('value')
    .where('key', '=', 'instance')
    .executeTakeFirstOrThrow();
  instances.set(folder, value);
  return value;
}

/**
 * The containers of an app of this server, stopped ones too. Files of tests run at once on one engine, and have apps of
 * the same name: whoever looks for the name alone reads, or ends, a container of another file.
 */
export async function containersOf(
  server: Instance,
  socket: string,
  app: string,
): Promise<ListedContainer[]> {
  const instance = await instanceOf(server);
  const filters = encodeURIComponent(JSON.stringify({ label: [`twofold.name=${app}`] }));
  const path = `/containers/json?all=1&filters=${filters}`;
  const all = await engineJson<ListedContainer[]>(socket, { path });
  return all.filter(({ Labels }) => Labels['twofold.instance'] === instance);
}

/** The first that runs. */
export async function runningContainerOf(
  server: Instance,
  socket: string,
  app: string,
): Promise<ListedContainer> {
  const found = (await containersOf(server, socket, app)).find(({ State }) => State === 'running');
  if (!found) throw new Error(`no container of ${app} runs`);
  return found;
}

import { mkdirSync } from 'node:fs';
import {
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  statfs,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InternalError } from '@twofold/runtime/errors';
import type { LocalModel } from '../model.ts';
import { mainFile, type Plan } from './plan.ts';

/**
 * The folder of models. `org/name` is a complete model, with the plan of its download inside.
 * `.downloads/org/name` is a download in progress. A finished download is moved with one rename, so
 * that `org/name` is always complete.
 */
export interface ModelStore {
  /** All complete models, by id. */
  models(): Promise<Map<string, LocalModel & { readonly commit: string }>>;
  /** The folder to which a download and its plan are written. */
  staging(id: string): string;
  plan(id: string): Promise<Plan | null>;
  savePlan(plan: Plan): Promise<void>;
  /** Plans of unfinished downloads. */
  unfinished(): Promise<Plan[]>;
  /** Bytes of a download that are on the disk already. */
  arrived(plan: Plan): Promise<number>;
  /** Moves a finished download to its final folder. */
  place(plan: Plan): Promise<void>;
  /** Deletes a download and all its files. */
  discard(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Free bytes of the disk. */
  free(): Promise<number>;
}

const PLAN = '.plan.json';
const DOWNLOADS = '.downloads';

export function createModelStore(root: string): ModelStore {
  const staged = (id: string) => join(root, DOWNLOADS, ...pathSegments(id));
  const final = (id: string) => join(root, ...pathSegments(id));
  return {
    staging: staged,
    plan: (id) => readPlan(staged(id)),
    async models() {
      const found = await plansBelow(root);
      return new Map(
        found.map(({ folder, plan }) => [
          plan.id,
          { ...localModel(folder, plan), commit: plan.commit },
        ]),
      );
    },
    async savePlan(plan) {
      await mkdir(staged(plan.id), { recursive: true });
      await writeWhole(join(staged(plan.id), PLAN), JSON.stringify(plan));
    },
    unfinished: async () => (await plansBelow(join(root, DOWNLOADS))).map(({ plan }) => plan),
    async arrived({ id, files }) {
      const sizes = await Promise.all(
        files.map(
          async ({ name }) =>
            (await sizeOf(join(staged(id), name))) ??
            (await sizeOf(partOf(join(staged(id), name)))) ??
            0,
        ),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    async place({ id }) {
      await mkdir(dirname(final(id)), { recursive: true });
      await rm(final(id), { recursive: true, force: true });
      await rename(staged(id), final(id));
      await prune(dirname(staged(id)));
    },
    async discard(id) {
      await rm(staged(id), { recursive: true, force: true });
      await prune(dirname(staged(id)));
    },
    async remove(id) {
      // The model is renamed before it is deleted, so that an incomplete model is never listed.
      const leaving = join(root, DOWNLOADS, `.leaving-${pathSegments(id).join('-')}`);
      await mkdir(dirname(leaving), { recursive: true });
      await rm(leaving, { recursive: true, force: true });
      await rename(final(id), leaving);
      await rm(leaving, { recursive: true, force: true });
      await prune(dirname(final(id)));
    },
    async free() {
      mkdirSync(root, { recursive: true });
      const { bavail, bsize } = await statfs(root);
      return bavail * bsize;
    },
  };
}

/** The path of a file until it is complete. */
export const partOf = (path: string): string => `${path}.part`;

/** The size of a file, or undefined when there is none. */
export async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

/** Splits an id into path segments. The id is checked again, so that none leaves the folder. */
function pathSegments(id: string): string[] {
  const parts = id.split('/');
  if (parts.length !== 2 || parts.some((part) => !/^[A-Za-z0-9]/.test(part)))
    throw new InternalError(`${JSON.stringify(id)} is not the id of a model`);
  return parts;
}

async function plansBelow(
  root: string,
): Promise<{ readonly folder: string; readonly plan: Plan }[]> {
  const folders = (await foldersIn(root)).map((org) => join(root, org));
  const models = (
    await Promise.all(
      folders.map(async (folder) => (await foldersIn(folder)).map((name) => join(folder, name))),
    )
  ).flat();
  const plans = await Promise.all(
    models.map(async (folder) => ({ folder, plan: await readPlan(folder) })),
  );
  return plans.filter((found): found is { folder: string; plan: Plan } => found.plan !== null);
}

async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}

async function readPlan(folder: string): Promise<Plan | null> {
  try {
    return JSON.parse(await readFile(join(folder, PLAN), 'utf8')) as Plan;
  } catch {
    return null;
  }
}

function localModel(folder: string, plan: Plan): LocalModel {
  const path = plan.format === 'gguf' ? join(folder, mainFile(plan)) : folder;
  return { id: plan.id, format: plan.format, path, size: plan.size, context: null };
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  const file = await open(`${path}.new`, 'r');
  await file.sync().finally(() => file.close());
  await rename(`${path}.new`, path);
}

/** Deletes a folder if it is empty. */
async function prune(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}

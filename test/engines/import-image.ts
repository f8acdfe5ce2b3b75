import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { streamArchive, writeArchive } from './archive.ts';
import { callEngine } from './call-engine.ts';
import { imageRecipes } from './image-recipes.ts';
import type { ImageName, ImageRecipe } from './image-recipes.ts';

/**
 * Puts a small image of ours into an engine, made from programs of this machine: no registry, no network.
 * Does nothing when the engine has it already. Returns the name to use, which is the same on every engine.
 *
 * @example
 * const image = await importImage(socket, 'twofold-test/web:1'); // 'docker.io/twofold-test/web:1'
 */
export async function importImage(socketPath: string, name: ImageName): Promise<string> {
  const recipe = imageRecipes[name]();
  const reference = `docker.io/${name}`;
  const mark = recipeMark(recipe);
  if (await hasImage(socketPath, reference, mark)) return reference;
  const folder = mkdtempSync(join(tmpdir(), 'tf-image-'));
  try {
    await writeImage({ folder, reference, recipe, mark });
    await load(socketPath, join(folder, 'image'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return reference;
}

/** A label with which a changed recipe or program replaces the image of an earlier run. */
const markLabel = 'twofold-test.recipe';

function recipeMark(recipe: ImageRecipe): string {
  const programs = recipe.programs.map((path) => [
    path,
    statSync(path).size,
    statSync(path).mtimeMs,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([recipe.command, recipe.env, programs]))
    .digest('hex')
    .slice(0, 16);
}

async function hasImage(socketPath: string, reference: string, mark: string): Promise<boolean> {
  const { status, text } = await callEngine(socketPath, { path: `/images/${reference}/json` });
  if (status !== 200) return false;
  const image = JSON.parse(text) as { Config?: { Labels?: Record<string, string> | null } };
  return image.Config?.Labels?.[markLabel] === mark;
}

interface ImageParts {
  readonly folder: string;
  readonly reference: string;
  readonly recipe: ImageRecipe;
  readonly mark: string;
}

/** The layout that `docker save` writes. Both engines load it, and it can hold a name, which Podman's import loses. */
async function writeImage({ folder, reference, recipe, mark }: ImageParts): Promise<void> {
  const root = join(folder, 'root');
  const image = join(folder, 'image');
  for (const path of [root, image]) mkdirSync(path);
  recipe.fill(root);
  writeArchive(root, join(image, 'layer.tar'));
  rmSync(root, { recursive: true });
  const config = imageConfig(recipe, mark, await sha256(join(image, 'layer.tar')));
  writeFileSync(join(image, 'config.json'), JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: [reference], Layers: ['layer.tar'] }];
  writeFileSync(join(image, 'manifest.json'), JSON.stringify(manifest));
}

function imageConfig(recipe: ImageRecipe, mark: string, layer: string) {
  return {
    architecture: { x64: 'amd64' }[process.arch as string] ?? process.arch,
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: {
      Cmd: recipe.command,
      Env: [`PATH=${recipe.path ?? '/bin:/usr/bin'}`, 'HOME=/root', ...(recipe.env ?? [])],
      ExposedPorts: { '8080/tcp': {} },
      WorkingDir: recipe.folder,
      Labels: { [markLabel]: mark },
    },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
    history: [{ created: '1970-01-01T00:00:00Z', created_by: 'test/engines' }],
  };
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function load(socketPath: string, image: string): Promise<void> {
  const path = '/images/load?quiet=1';
  const { text } = await callEngineOk(socketPath, {
    method: 'POST',
    path,
    tar: streamArchive(image),
  });
  if (text.includes('"error"'))
    throw new Error(`the engine on ${socketPath} refused the image: ${text.trim()}`);
}

async function callEngineOk(socketPath: string, call: Parameters<typeof callEngine>[1]) {
  const answer = await callEngine(socketPath, call);
  if (answer.status >= 400)
    throw new Error(`${call.path} on ${socketPath}: ${answer.status} ${answer.text.trim()}`);
  return answer;
}

import { fileURLToPath } from 'node:url';
import { BUILD_FOLDER } from '../../generator/packages/pack.ts';
import type { Pack, PackFile } from '../read-pack.ts';

const FIELDS = ['description', 'license', 'repository', 'exports', 'files', 'engines'];
const SHARED = ['LICENSE', 'README.md', 'CHANGELOG.md'];
/** Folders of the build machine: the sources, and where the packs are compiled. */
const PLACES = [fileURLToPath(new URL('../..', import.meta.url)), BUILD_FOLDER];

/** Problems of the files and the fields of a pack. */
export function findInContents(pack: Pack): string[] {
  const { manifest, files } = pack;
  const paths = new Set(files.map(({ path }) => path));
  return [
    ...FIELDS.filter((field) => manifest[field] === undefined).map((field) => `has no ${field}`),
    ...SHARED.filter((file) => !paths.has(file)).map((file) => `has no ${file}`),
    ...(manifest['private'] === undefined ? [] : ['is private']),
    ...files.flatMap((file) => findInFile(file, paths)),
  ].map((finding) => `${manifest.name} ${finding}`);
}

/** TypeScript that a run copies into projects. */
const COPIED = 'templates/client/source/';

/** Node does not strip types below `node_modules`, so a pack must not run TypeScript. */
function findInFile({ path, bytes }: PackFile, paths: ReadonlySet<string>): string[] {
  const text = bytes.toString();
  const places = PLACES.filter((place) => text.includes(place));
  return [
    ...(/(?<!\.d)\.[cm]?ts$/.test(path) && !path.startsWith(COPIED)
      ? [`ships ${path}, which Node does not run`]
      : []),
    ...places.map(() => `names a folder of this machine in ${path}`),
    ...(text.includes('sourceMappingURL=') && path.endsWith('.js') && !paths.has(`${path}.map`)
      ? [`has no map of ${path}`]
      : []),
    ...(path.endsWith('.js.map') ? findInMap(path, text) : []),
  ];
}

function findInMap(path: string, text: string): string[] {
  const { sourcesContent } = JSON.parse(text) as { sourcesContent?: readonly unknown[] };
  return sourcesContent?.every((source) => typeof source === 'string')
    ? []
    : [`has no source in ${path}`];
}

import { type PackageJson, parseJson, type ProjectFiles } from './project-files.ts';
import type { MissMode } from './static/image.ts';

/** A project whose build writes files for a browser. */
export interface FrontEnd {
  /** The name of its tool, or `files`. */
  readonly kind: string;
  /** Where the files may be, the likeliest place first. */
  readonly outputs: readonly string[];
  readonly mode: MissMode;
}

interface Tool {
  readonly kind: string;
  /** A package of which one makes the project this tool's. */
  readonly packages: readonly string[];
  /** What a script `start` of it runs that serves only while somebody develops. */
  readonly develops: RegExp;
  readonly mode: MissMode;
  /** Null when the project is to run as a server. */
  outputs(files: ProjectFiles): readonly string[] | null;
}

/** Other tools build with Vite, so it comes last. */
const TOOLS: readonly Tool[] = [
  {
    kind: 'Angular',
    packages: ['@angular/cli', '@angular/build', '@angular-devkit/build-angular'],
    develops: /\bng\s+(serve|s|dev)\b|\bng\s*$/,
    mode: 'app',
    outputs: angularOutputs,
  },
  {
    kind: 'Create React App',
    packages: ['react-scripts'],
    develops: /\breact-scripts\s+start\b/,
    mode: 'app',
    outputs: () => ['build'],
  },
  {
    kind: 'Next.js',
    packages: ['next'],
    develops: /\bnext\s+(start|dev)\b|\bnext\s*$/,
    mode: 'pages',
    outputs(files) {
      const config = configOf(files, 'next');
      return textOf(config, 'output') === 'export' ? [textOf(config, 'distDir') ?? 'out'] : null;
    },
  },
  {
    kind: 'Astro',
    packages: ['astro'],
    develops: /\bastro\s+(start|dev|preview)\b|\bastro\s*$/,
    mode: 'pages',
    outputs(files) {
      const config = configOf(files, 'astro');
      const serves = ['server', 'hybrid'].includes(textOf(config, 'output') ?? '');
      return serves ? null : [textOf(config, 'outDir') ?? 'dist'];
    },
  },
  {
    kind: 'SvelteKit',
    packages: ['@sveltejs/kit'],
    develops: /\b(vite|svelte-kit)\b/,
    mode: 'pages',
    outputs(files) {
      const config = configOf(files, 'svelte');
      return config.includes('adapter-static') ? [textOf(config, 'pages') ?? 'build'] : null;
    },
  },
  {
    kind: 'Docusaurus',
    packages: ['@docusaurus/core'],
    develops: /\bdocusaurus\s+(start|serve)\b/,
    mode: 'pages',
    outputs: () => ['build'],
  },
  {
    kind: 'Gatsby',
    packages: ['gatsby'],
    develops: /\bgatsby\s+(develop|serve)\b/,
    mode: 'pages',
    outputs: () => ['public'],
  },
  {
    kind: 'Eleventy',
    packages: ['@11ty/eleventy'],
    develops: /\beleventy\b.*--(serve|watch)\b/,
    mode: 'pages',
    outputs: (files) => [textOf(configOf(files, 'eleventy'), 'output') ?? '_site'],
  },
  {
    kind: 'Vite',
    packages: ['vite'],
    develops: /\bvite(\s+(dev|serve|preview))?(\s+-|\s*$)/,
    mode: 'app',
    outputs: (files) => [textOf(configOf(files, 'vite'), 'outDir') ?? 'dist'],
  },
];

/** Where most tools write. `public` is missing, because it often is a folder of the source. */
const USUAL_OUTPUTS = ['dist', 'build', 'out', '_site'];

/**
 * The front end that a project is, or null for a server. A script `start` makes a server, unless it
 * only runs the tool of a front end. `output` is the folder that the user names.
 *
 * @example
 * frontEndOf(files, { scripts: { build: 'vite build' }, devDependencies: { vite: '8' } }, null)
 * // { kind: 'Vite', outputs: ['dist'], mode: 'app' }
 */
export function frontEndOf(
  files: ProjectFiles,
  manifest: PackageJson,
  output: string | null,
): FrontEnd | null {
  const { build, start } = manifest.scripts ?? {};
  const packages = { ...manifest.dependencies, ...manifest.devDependencies };
  const tool = TOOLS.find((each) => each.packages.some((name) => Object.hasOwn(packages, name)));
  const outputs = tool?.outputs(files) ?? null;
  if (build === undefined) return null;
  if (output === null && start !== undefined && !(outputs && tool?.develops.test(start)))
    return null;
  if (output === null && tool && outputs === null) return null;
  return {
    kind: tool?.kind ?? 'files',
    outputs: output === null ? (outputs ?? USUAL_OUTPUTS) : [output],
    mode: tool?.mode ?? 'pages',
  };
}

/** The text of a tool's configuration, without its comments. */
function configOf(files: ProjectFiles, name: string): string {
  const path = files.find(new RegExp(`^\\.?${name}(\\.config)?\\.([mc]?[jt]s)$`));
  return (path === undefined ? '' : (files.text(path) ?? ''))
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}

/** The text that a key has in a configuration. The program is not run, so only plain texts count. */
function textOf(config: string, key: string): string | undefined {
  const text = new RegExp(`\\b${key}['"]?\\s*:\\s*(['"\`])([^'"\`$]+)\\1`).exec(config)?.[2];
  const path = text?.replace(/^\.\//, '').replace(/\/+$/, '');
  return path !== undefined && !path.startsWith('/') && !path.split('/').includes('..')
    ? path
    : undefined;
}

interface AngularWorkspace {
  readonly defaultProject?: string;
  readonly projects?: Readonly<Record<string, AngularProject>>;
}

interface AngularProject {
  readonly projectType?: string;
  readonly architect?: {
    readonly build?: {
      readonly builder?: string;
      readonly options?: {
        readonly outputPath?: string | { readonly base?: string; readonly browser?: string };
      };
    };
  };
}

function angularOutputs(files: ProjectFiles): readonly string[] {
  const { projects = {}, defaultProject } =
    parseJson<AngularWorkspace>(files.text('angular.json')) ?? {};
  const applications = Object.entries(projects).filter(
    ([, { projectType }]) => projectType !== 'library',
  );
  const [name, project] =
    applications.find(([each]) => each === defaultProject) ?? applications[0] ?? [];
  if (name === undefined) return ['dist'];
  const given = project?.architect?.build?.options?.outputPath;
  const base = (typeof given === 'string' ? given : given?.base) ?? `dist/${name}`;
  const browser = (typeof given === 'string' ? undefined : given?.browser) ?? 'browser';
  return browser === '' ? [base] : [`${base}/${browser}`, base];
}

/** What not every builder knows. `platform`: variables such as `$BUILDPLATFORM`. */
export type Feature =
  | 'mount'
  | 'platform'
  | 'chmod'
  | 'heredoc'
  | 'link'
  | 'checksum'
  | 'exclude'
  | 'parents'
  | 'git';

/** The builder of an engine. */
export interface Builder {
  /** `buildah` is Podman's. */
  readonly kind: 'buildkit' | 'buildah';
  /** The engine with its version, for messages, such as `Docker 20.10.24`. */
  readonly engine: string;
  /** Whether it builds the feature by itself, without another frontend. */
  knows(feature: Feature): boolean;
}

/** The first versions that know a feature: Docker's with its own frontend, and Podman's. */
const SINCE: Readonly<Record<Feature, readonly [docker: string, podman: string]>> = {
  mount: ['20.10', '4.0'],
  platform: ['18.9', '4.0'],
  chmod: ['20.10', '4.0'],
  heredoc: ['23.0', '4.8'],
  link: ['23.0', '5.6'],
  checksum: ['25.0', '5.0'],
  git: ['25.0', '5.0'],
  exclude: ['29.0', '5.4'],
  parents: ['29.0', '5.4'],
};

/** @example createBuilder('docker', '20.10.24+dfsg1').knows('heredoc') // false */
export function createBuilder(kind: 'docker' | 'podman', version: string): Builder {
  const name = kind === 'docker' ? 'Docker' : 'Podman';
  return {
    kind: kind === 'docker' ? 'buildkit' : 'buildah',
    engine: `${name} ${/^[\d.]+/.exec(version)?.[0] ?? version}`,
    knows: (feature) => isAtLeast(version, SINCE[feature][kind === 'docker' ? 0 : 1]),
  };
}

function isAtLeast(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  const [first = 0, second = 0] = wanted.split('.').map(Number);
  return major > first || (major === first && minor >= second);
}

import { AppError } from '@twofold/runtime/errors';
import type { Builder, Feature } from '../engine/builder.ts';
import { frontendOf, type Instruction, toInstruction } from './dockerfile-lines.ts';
import { readMount } from './mounts.ts';
import { quote, refuse } from '../archives/refuse.ts';

/** A feature, and the instruction that uses it. */
export interface UsedFeature {
  readonly feature: Feature;
  readonly instruction: Instruction;
}

const PLATFORM = /\$\{?(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)\b/;

/** The features that a Dockerfile uses, in its order. */
function usedFeatures(instructions: readonly Instruction[]): readonly UsedFeature[] {
  return instructions.flatMap((instruction) =>
    featuresOf(instruction).map((feature) => ({ feature, instruction })),
  );
}

function featuresOf({ name, flags, rest, heredoc }: Instruction): readonly Feature[] {
  const has = (flag: string) => flags.some((each) => each === flag || each.startsWith(`${flag}=`));
  const copies = name === 'COPY' || name === 'ADD';
  const found: readonly (readonly [Feature, boolean])[] = [
    ['heredoc', heredoc],
    ['mount', name === 'RUN' && flags.length > 0],
    ['platform', PLATFORM.test(`${flags.join(' ')} ${rest}`) || declaresPlatform(name, rest)],
    ['chmod', copies && has('--chmod')],
    ['link', copies && has('--link')],
    ['exclude', copies && has('--exclude')],
    ['parents', copies && has('--parents')],
    ['checksum', copies && has('--checksum')],
    ['git', name === 'ADD' && has('--keep-git-dir')],
  ];
  return found.filter(([, uses]) => uses).map(([feature]) => feature);
}

const declaresPlatform = (name: string, rest: string) =>
  name === 'ARG' && /^(BUILD|TARGET)(PLATFORM|OS|ARCH|VARIANT)\b/.test(rest);

/** How a Dockerfile is to be built. */
export interface BuildChoice {
  readonly buildkit: boolean;
  /**
   * Whether to build without the cache. Podman mounts a stage that it took from its cache without
   * the files that the stage added.
   */
  readonly fresh: boolean;
  /** The official frontend, when the builder does not know a feature by itself. */
  readonly frontend: string | null;
  /** The feature for which the frontend is needed. */
  readonly needs: UsedFeature | null;
}

export interface ChoiceRequest {
  readonly text: string;
  readonly instructions: readonly Instruction[];
  readonly secrets: boolean;
  readonly required: boolean;
}

/**
 * Chooses how to build. BuildKit builds what needs it. The engine's older builder builds the rest,
 * because it bounds the memory of a build and BuildKit does not.
 *
 * @throws AppError 422 for what Podman's builder lacks, with line and instruction. 503 when BuildKit
 * is required and the engine has none.
 */
export function chooseBuild(
  builder: Builder,
  { text, instructions, secrets, required }: ChoiceRequest,
): BuildChoice {
  const used = usedFeatures(instructions);
  const unknown = used.find(({ feature }) => !builder.knows(feature)) ?? null;
  if (builder.kind === 'buildah') {
    if (required)
      throw new AppError(
        503,
        'NO_BUILDKIT',
        `hosting.build.buildkit is required, and ${builder.engine} has no BuildKit`,
      );
    if (unknown) throw lacking(builder, unknown);
    for (const instruction of instructions) assertContained(builder, instruction);
    return { buildkit: false, fresh: instructions.some(mountsStage), frontend: null, needs: null };
  }
  const asked = frontendOf(text);
  return {
    fresh: false,
    buildkit: required || secrets || asked !== null || used.length > 0,
    frontend: unknown ? frontendFor(asked, used) : null,
    needs: unknown,
  };
}

const FRONTEND = 'docker/dockerfile:1';
/** The versions that read here-documents: 1.4 was the first. */
const READS_HEREDOCS =
  /dockerfile(?::(?:latest|labs|1(?:\.(?:[4-9]|\d\d+)(?:\.\d+)?)?(?:-labs)?))?$/;

/**
 * The frontend that the file asks for, but none that may be too old for its here-documents: that
 * would read their text as instructions, which nobody has checked.
 */
function frontendFor(asked: string | null, used: readonly UsedFeature[]): string {
  const hasHeredoc = used.some(({ feature }) => feature === 'heredoc');
  const chosen = asked !== null && (!hasHeredoc || READS_HEREDOCS.test(asked)) ? asked : FRONTEND;
  return `docker.io/${chosen.replace(/^docker\.io\//, '')}`;
}

const mountsStage = ({ name, flags }: Instruction) =>
  name === 'RUN' && flags.some((flag) => readMount(flag)?.['from'] !== undefined);

/** The error for an instruction that a builder does not know. */
export function lacking(
  { engine }: Builder,
  { feature, instruction }: UsedFeature,
  why = '',
): AppError {
  const words =
    feature === 'heredoc'
      ? 'a here-document'
      : feature === 'platform'
        ? 'a platform variable'
        : `--${feature}`;
  return refuse(
    `Line ${instruction.line}: ${engine} does not build ${instruction.name} with ${words}${why}: ${quote(`${instruction.name} ${[...instruction.flags, instruction.rest].join(' ')}`)}`,
  );
}

type LocatedInstruction = Pick<Instruction, 'name' | 'flags' | 'rest' | 'line'>;

/**
 * Podman follows a link in the mounted stage out of the build, and mounts what it finds on the
 * machine. A mount of a whole stage or of the context is safe.
 */
function assertContained(builder: Builder, { name, flags, rest, line }: LocatedInstruction): void {
  if (name === 'ONBUILD') return assertContained(builder, { ...toInstruction(rest), line });
  if (name !== 'RUN') return;
  const { engine } = builder;
  for (const flag of flags) {
    const mount = readMount(flag);
    if (!mount) continue;
    if (mount['from'] !== undefined && (mount['source'] ?? '/').replace(/^[/.]+/, '') !== '')
      throw refuse(
        `Line ${line}: ${engine} does not build RUN ${quote(flag)} safely: mount the whole stage, without source, or use COPY --from`,
      );
    if (Object.values(mount).some((value) => value.includes('$')))
      throw refuse(`Line ${line}: ${engine} does not build RUN ${quote(flag)}: it has a variable`);
  }
}

/**
 * Checks the `ONBUILD` instructions of a base image for Podman's builder, as those of a Dockerfile.
 * Their caches cannot get names of their own, so they may have none.
 *
 * @throws AppError 422
 */
export function assertTriggersContained(builder: Builder, triggers: readonly string[]): void {
  if (builder.kind !== 'buildah') return;
  for (const trigger of triggers) {
    const instruction = { ...toInstruction(trigger), line: 1 };
    assertContained(builder, instruction);
    if (instruction.flags.some((flag) => readMount(flag)?.['type'] === 'cache'))
      throw refuse(`${builder.engine} does not build ONBUILD ${quote(trigger)}: it mounts a cache`);
  }
}

/**
 * Gives the caches of RUN names that start with `prefix`, because Podman keeps the caches of all
 * builds in one folder. @returns the text unchanged if there are none.
 */
export function withOwnCaches(
  text: string,
  instructions: readonly Instruction[],
  prefix: string,
): string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const changed = instructions.filter(({ flags }) =>
    flags.some((flag) => readMount(flag)?.['type'] === 'cache'),
  );
  for (const { flags, rest, line, end } of changed) {
    const own = flags.map((flag) => ownCache(flag, prefix)).join(' ');
    const filling = Array.from({ length: end - line }, () => '');
    lines.splice(line - 1, end - line + 1, `RUN ${own} ${rest}`, ...filling);
  }
  return changed.length > 0 ? lines.join('\n') : text;
}

function ownCache(flag: string, prefix: string): string {
  const mount = readMount(flag);
  if (mount?.['type'] !== 'cache') return flag;
  const id = (mount['id'] ?? mount['target'] ?? '').replaceAll(/[^\w.-]+/g, '-');
  return `--mount=${Object.entries({ ...mount, id: `${prefix}-${id}` })
    .map(([key, value]) => `${key}=${value}`)
    .join(',')}`;
}

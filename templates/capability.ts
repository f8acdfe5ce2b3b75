import type { Project } from '@twofold/schema';
import type { Code } from './code.ts';

/** A file that `generate` owns. */
export interface GeneratedFile {
  readonly path: string;
  render(): string;
}

/** What a project emits for a capability. Each stands in a folder of its name; `capabilities.ts` lists them. */
export interface CapabilityTemplate {
  /** As `CapabilitySpec.name`. */
  readonly name: string;
  /** What `app.ts` passes: `auth({ extend })`. `userFiles` says which of the user's optional files are there. */
  call(userFiles: ReadonlySet<string>): Code;
  /** Its settings, as `defineProject` is given them; null where the manifest has no such section. */
  settings?(project: Project): Code | null;
  /** What `types.ts` declares for the user's files. */
  types?(project: Project): Code | null;
  /** Its files below `src/generated/`. */
  files?(project: Project): readonly GeneratedFile[];
}

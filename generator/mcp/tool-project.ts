import type { CommandSpec } from '../cli/command.ts';
import type { AskProject } from '../run-project.ts';

/** The project that the tools are about. */
export interface ToolProject {
  readonly root: string;
  readonly commands: readonly CommandSpec[];
  readonly ask: AskProject;
}

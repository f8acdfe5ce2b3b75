import { commands } from '../../generator/cli/commands.ts';
import { commandHelp, overview } from '../../generator/cli/help.ts';

/** What `generator --help` prints, and the help of each command. */
export function commandsReference(): string {
  const shown = commands.filter((command) => !('hidden' in command && command.hidden));
  return `# Command line

What \`npx generator --help\` prints, and the help of each command. [Commands](/commands/commands) explains them.

${text(overview(shown))}

${shown.map((command) => `## ${command.name}\n\n${text(commandHelp(command))}`).join('\n\n')}
`;
}

const text = (help: string) => `\`\`\`text\n${help.trimEnd()}\n\`\`\``;

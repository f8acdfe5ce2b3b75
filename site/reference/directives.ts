import { directivesSdl } from '@twofold/schema';
import { type DirectiveDefinitionNode, parse, print } from 'graphql';
import { prose, table } from './table.ts';

/** Every directive with its arguments, from their SDL. */
export function directivesReference(): string {
  const definitions = parse(directivesSdl).definitions.flatMap((node) =>
    node.kind === 'DirectiveDefinition' ? [node] : [],
  );
  return `# Directives by name

Every directive with its arguments, from the SDL that editors read. [The directives](/files/directives) shows them in use.

${definitions.map(sectionOf).join('\n\n')}
`;
}

function sectionOf(node: DirectiveDefinitionNode): string {
  const places = node.locations.map(({ value }) => `\`${value}\``).join(', ');
  const rows = (node.arguments ?? []).map((argument) => [
    `\`${argument.name.value}\``,
    `\`${print(argument.type)}\``,
    argument.defaultValue ? `\`${print(argument.defaultValue)}\`` : '',
    argument.description?.value ?? '',
  ]);
  return [
    `## @${node.name.value}`,
    descriptionOf(node),
    `Stands on ${places}${node.repeatable ? ', more than once' : ''}.`,
    rows.length > 0 && table(['Argument', 'Type', 'Default', 'What'], rows),
  ]
    .filter(Boolean)
    .join('\n\n');
}

/** Indented lines of a description are SDL. */
function descriptionOf({ description }: DirectiveDefinitionNode): string {
  const parts = (description?.value ?? '').split(/\n\n+/);
  return parts
    .map((part) =>
      part.startsWith('    ')
        ? `\`\`\`graphql\n${part.replaceAll(/^ {4}/gm, '')}\n\`\`\``
        : prose(part),
    )
    .join('\n\n');
}

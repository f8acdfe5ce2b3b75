/**
 * The name of a type or a constant, as graphql-codegen makes it: each part between underscores in
 * PascalCase.
 *
 * @example typeName('HTTPMethod_input') // 'HttpMethod_Input'
 */
export function typeName(name: string): string {
  return name.split('_').map(pascalCase).join('_');
}

function pascalCase(text: string): string {
  const words = text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .split(' ');
  return words
    .map((word, at) => (at > 0 && /^\d/.test(word) ? `_${capital(word)}` : capital(word)))
    .join('');
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase();

/** `tsconfig.json`: a scaffold. Strict, and only syntax that Node can strip. */
export function renderTsconfig(pages: string | null = null): string {
  return `{
  "compilerOptions": {
    "target": "esnext",
    "lib": ["esnext"],
    "module": "nodenext",
    "types": ["node"],
    "rootDir": ".",
    "noEmit": true,
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "noImplicitOverride": true,
    "noImplicitReturns": true,
    "noFallthroughCasesInSwitch": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "isolatedModules": true,
    "resolveJsonModule": true,
    "skipLibCheck": true
  },
  "include": ["src", "migrations", "test"]${pages === null ? '' : `,\n  "exclude": ["node_modules", "${pages}"]`}
}
`;
}

/**
 * `tsconfig.json` in the folder of the console's own pages: a scaffold. They run in a browser, so
 * they have its types instead of Node's.
 */
export function renderPagesTsconfig(pages: string): string {
  const up = pages
    .split('/')
    .map(() => '..')
    .join('/');
  return `{
  "extends": "${up}/tsconfig.json",
  "compilerOptions": {
    "lib": ["esnext", "dom", "dom.iterable"],
    "types": [],
    "rootDir": "${up}",
    "allowJs": true
  },
  "include": ["."],
  "exclude": []
}
`;
}

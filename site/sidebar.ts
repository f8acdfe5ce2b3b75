import type { DefaultTheme } from 'vitepress';
import type { SitePage } from './pages.ts';
import { SECTIONS } from './sections.ts';

/**
 * The navigation of each part of the site: its pages, among links to the other parts. Groups do not
 * open and close: VitePress makes those of buttons within buttons, which screen readers cannot tell.
 */
export function sidebarOf(pages: readonly SitePage[]): DefaultTheme.SidebarMulti {
  return Object.fromEntries(
    SECTIONS.filter(({ title }) => title !== '').map(({ path, title }) => [
      `/${path}/`,
      groupsOf(pages, title),
    ]),
  );
}

function groupsOf(pages: readonly SitePage[], current: string): DefaultTheme.SidebarItem[] {
  const titles = [...new Set(SECTIONS.map(({ title }) => title))].filter((title) => title !== '');
  return titles.flatMap((text): DefaultTheme.SidebarItem[] => {
    const own = pages.filter(({ section }) => section.title === text).map(itemOf);
    if (own.length === 0) return [];
    return [text === current ? { text, items: own } : { text, link: own[0]!.link }];
  });
}

const itemOf = ({ title, path }: SitePage) => ({
  text: title,
  link: `/${path.replace(/(^|\/)index$/, '$1')}`,
});

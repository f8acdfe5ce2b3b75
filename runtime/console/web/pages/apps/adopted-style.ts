/**
 * Stands in for a `<style>` element, which the policy of the console forbids: its text is a style
 * sheet that the document adopts. The build makes the terminal call this (`build.ts`).
 */
export function adoptedStyle(): HTMLElement {
  const element = document.createElement('template');
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(element, 'textContent', {
    set(text: string) {
      sheet.replaceSync(text);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}

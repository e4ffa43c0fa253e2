// What readers of screens and users of keyboards need, and the theme leaves out.
document.addEventListener("DOMContentLoaded", () => {
  const amend = () => {
    // Wide tables scroll: they can be reached by the keyboard, too.
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => (table.tabIndex = 0))
    // Lists inside of the navigation, and the buttons of a block of code, are no places of their own.
    document.querySelectorAll(".md-code__nav, .md-nav[aria-labelledby]").forEach((part) => part.setAttribute("role", "group"))
  }
  amend()
  setTimeout(amend, 200) // the theme wraps tables while the page is shown
})

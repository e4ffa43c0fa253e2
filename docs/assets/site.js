// What readers of screens and users of keyboards need, and the theme leaves out.
document.addEventListener("DOMContentLoaded", () => {
  const amend = () => {
    // Wide tables scroll: they can be reached by the keyboard, too.
    document.querySelectorAll(".md-typeset__scrollwrap").forEach((table) => (table.tabIndex = 0))
    // So does wide code; the theme thinks of it only where there is a mouse.
    document.querySelectorAll("pre > code").forEach((code) => {
      if (code.scrollWidth > code.clientWidth) code.tabIndex = 0
    })
    // The buttons of a block of code are no part of the navigation.
    document.querySelectorAll(".md-code__nav").forEach((part) => part.setAttribute("role", "none"))
    // Each list of the navigation has a name of its own.
    document.querySelectorAll(".md-nav[aria-labelledby]").forEach((part, number) => {
      const title = document.getElementById(part.getAttribute("aria-labelledby"))
      part.removeAttribute("aria-labelledby")
      part.setAttribute("aria-label", `Pages ${number + 1}: ${title ? title.textContent.trim() : ""}`)
    })
  }
  amend()
  const later = () => setTimeout(amend, 200) // the theme wraps tables while the page is shown
  later()
  window.addEventListener("resize", later)
})

"""The interpreters of bindax: each is a trace plus a rule table, as a third party's would be.

They use ``bindax_core.extend`` alone, and no kernel module imports them.
"""
